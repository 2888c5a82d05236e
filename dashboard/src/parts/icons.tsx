/** The few signs of the app, drawn for it. They are decoration: what they mean is always said in words too. */

function icon(path: string) {
  return function Icon({ size = 16 }: { size?: number }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        aria-hidden
      >
        <path d={path} strokeLinecap="round" strokeLinejoin="round" />
      </svg>
    )
  }
}

export const CheckIcon = icon('M3 8.5 6.5 12 13 4.5')
export const CopyIcon = icon('M6 6h7v7H6zM10 6V3H3v7h3')
export const CloseIcon = icon('M4 4l8 8M12 4l-8 8')
export const SearchIcon = icon('M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.5 10.5 14 14')
export const SunIcon = icon(
  'M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8 1v1M8 14v1M1 8h1M14 8h1M3 3l.8.8M12.2 12.2l.8.8M13 3l-.8.8M3.8 12.2 3 13',
)
export const MoonIcon = icon('M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z')
export const GaugeIcon = icon('M2.5 12a6 6 0 1 1 11 0M8 9l3-3')
export const ListIcon = icon('M5.5 4H14M5.5 8H14M5.5 12H14M2 4h.5M2 8h.5M2 12h.5')
export const PlayIcon = icon('M5 3l8 5-8 5z')
export const PauseIcon = icon('M5 3v10M11 3v10')
export const FileIcon = icon('M4 1.5h5l3 3v10H4zM9 1.5v3h3')
export const WorkerIcon = icon('M3 4h10v8H3zM1 6.5h2M1 9.5h2M13 6.5h2M13 9.5h2M6 7h4v2H6z')
export const QueueIcon = icon('M2 3h12v3H2zM2 8h12v2H2zM2 12h12v2H2z')
export const BoxIcon = icon('M8 1.5 14 5v6l-6 3.5L2 11V5zM2 5l6 3.5L14 5M8 8.5v6')
export const ScaleIcon = icon('M8 2v12M4 14h8M3 4h10M3 4 1 9h4zM13 4l-2 5h4z')
export const SendIcon = icon('M14 2 7 9M14 2 9.5 14 7 9 2 6.5z')
export const BellIcon = icon('M4 11V7a4 4 0 0 1 8 0v4l1 1.5H3zM6.5 14h3')
export const KeyIcon = icon('M5.5 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM7.8 8 13 2.8M11 5l2 2')
export const BookIcon = icon('M3 2h8a2 2 0 0 1 2 2v10H5a2 2 0 0 1-2-2zM3 12a2 2 0 0 1 2-2h8')
export const DownloadIcon = icon('M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11')
export const UploadIcon = icon('M8 10.5v-8M4.5 5.5 8 2l3.5 3.5M2.5 13.5h11')
export const RetryIcon = icon('M13 8a5 5 0 1 1-1.6-3.7M13 1.5v3.3H9.7')
export const CompareIcon = icon('M5 3v10M11 3v10M2 6l3-3 3 3M8 10l3 3 3-3')
export const MoreIcon = icon('M3.5 8h.01M8 8h.01M12.5 8h.01')
export const ChevronUpIcon = icon('M4 10l4-4 4 4')
export const ChevronDownIcon = icon('M4 6l4 4 4-4')
export const ChevronRightIcon = icon('M6 4l4 4-4 4')
export const PlusIcon = icon('M8 3v10M3 8h10')
