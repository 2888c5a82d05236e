/** How models and queues may be called, and the bounds of what their definitions say; the same in modules, in YAML and over HTTP. */

export const MODEL_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/
export const MODEL_NAME_WANTED = 'a letter and then up to 127 letters, digits, or any of _ . -'
export const MODEL_VERSION = /^[A-Za-z0-9_.-]{1,64}$/
export const MODEL_VERSION_WANTED = '1 to 64 letters, digits, or any of _ . -'
export const QUEUE_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/
export const QUEUE_NAME_WANTED = 'a letter and then up to 63 letters, digits, or any of _ . -'
export const PRIORITY_MAX = 100
export const MODEL_SECONDS_MAX = 366 * 24 * 3600
