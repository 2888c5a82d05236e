/** The part of the package `stopword` that is used: a list of words per language, named by its three-letter code. */

declare module 'stopword' {
  const lists: Record<string, string[] | ((...args: unknown[]) => unknown)>
  export default lists
}
