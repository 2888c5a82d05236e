/** Where one can go, in groups; only what the person may see. */

import type { TokenRole } from '@holdfast/client'
import { NavLink, Stack, Text } from '@mantine/core'
import { Link, useNavigate, useRouterState } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import {
  BellIcon,
  BookIcon,
  BoxIcon,
  CompareIcon,
  FileIcon,
  GaugeIcon,
  KeyIcon,
  ListIcon,
  PlayIcon,
  QueueIcon,
  ScaleIcon,
  SendIcon,
  WorkerIcon,
} from '../parts/icons.tsx'
import { appPath } from '../place.ts'
import { useMay } from '../session.tsx'
import { useShortcut } from './shortcuts.tsx'

type Place = { to: string; label: string; keys: string; role: TokenRole; icon: ComponentType }

const GROUPS: { name: string; places: Place[] }[] = [
  {
    name: 'Work',
    places: [
      { to: '/', label: 'Overview', keys: 'g o', role: 'viewer', icon: GaugeIcon },
      { to: '/runs', label: 'Runs', keys: 'g r', role: 'viewer', icon: ListIcon },
      { to: '/documents', label: 'Documents', keys: 'g d', role: 'viewer', icon: FileIcon },
      { to: '/submit', label: 'Submit', keys: 'g s', role: 'submitter', icon: PlayIcon },
      { to: '/compare', label: 'Compare', keys: 'g c', role: 'viewer', icon: CompareIcon },
    ],
  },
  {
    name: 'Operate',
    places: [
      { to: '/workers', label: 'Workers', keys: 'g w', role: 'operator', icon: WorkerIcon },
      { to: '/queues', label: 'Queues', keys: 'g q', role: 'viewer', icon: QueueIcon },
      { to: '/models', label: 'Models', keys: 'g m', role: 'viewer', icon: BoxIcon },
      { to: '/quotas', label: 'Quotas', keys: 'g u', role: 'viewer', icon: ScaleIcon },
    ],
  },
  {
    name: 'Notify',
    places: [
      { to: '/deliveries', label: 'Deliveries', keys: 'g e', role: 'viewer', icon: SendIcon },
      { to: '/receivers', label: 'Webhooks and mail', keys: 'g h', role: 'viewer', icon: BellIcon },
    ],
  },
  {
    name: 'Administer',
    places: [
      { to: '/tokens', label: 'Tokens', keys: 'g t', role: 'admin', icon: KeyIcon },
      { to: '/audit', label: 'Audit', keys: 'g a', role: 'admin', icon: BookIcon },
    ],
  },
]

export function Navigation({ onGo }: { onGo: () => void }) {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  return (
    <Stack gap="md">
      {GROUPS.map(({ name, places }) => (
        <Group key={name} name={name} places={places} path={path} onGo={onGo} />
      ))}
    </Stack>
  )
}

function Group({ name, places, path, onGo }: { name: string; places: Place[]; path: string; onGo: () => void }) {
  const may = {
    worker: false,
    viewer: useMay('viewer'),
    submitter: useMay('submitter'),
    operator: useMay('operator'),
    admin: useMay('admin'),
  }
  const shown = places.filter(({ role }) => may[role])
  if (shown.length === 0) return null
  return (
    <div>
      <Text size="xs" c="dimmed" fw={600} px="xs" mb={2}>
        {name}
      </Text>
      {shown.map((place) => (
        <Entry key={place.to} place={place} isHere={isAt(path, place.to)} onGo={onGo} />
      ))}
    </div>
  )
}

function Entry({
  place: { to, label, keys, icon: Icon },
  isHere,
  onGo,
}: {
  place: Place
  isHere: boolean
  onGo: () => void
}) {
  const navigate = useNavigate()
  useShortcut(keys, `Go to ${label}`, () => void navigate({ to }))
  return (
    <NavLink
      component={Link}
      to={to}
      label={label}
      leftSection={<Icon />}
      active={isHere}
      aria-current={isHere ? 'page' : undefined}
      onClick={onGo}
      px="xs"
      py={5}
      variant="light"
    />
  )
}

function isAt(path: string, to: string): boolean {
  const inside = path.startsWith(appPath) ? path.slice(appPath.length) || '/' : path
  return to === '/' ? inside === '/' : inside === to || inside.startsWith(`${to}/`)
}
