/**
 * The watchdog of a pool child, a thread of its own, so that an endless loop in the main thread cannot stop it.
 *
 * It ends the whole process group at once when the worker is gone (the lifeline closes, also on `kill -9`) and when the process
 * holds more resident memory than allowed. `process.exit` in a thread ends only the thread, therefore the kill.
 * This file is plain JavaScript because each thread would load a type stripper of its own, 18 MB per child.
 */

import { writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const SAMPLE_MS = 100
const BYTES_PER_MB = 1024 * 1024

/** `residentBytes` holds the latest sample and the highest, for the main thread to read at no cost; it sets the highest back. */
const { lifelineFd, limitMb, residentBytes } = workerData

const lifeline = new Socket({ fd: lifelineFd, readable: true, writable: false })
lifeline.on('error', endGroup)
lifeline.on('close', endGroup)
lifeline.resume()

setInterval(sample, SAMPLE_MS)
sample()
parentPort.postMessage('watching')

function sample() {
  const resident = process.memoryUsage.rss()
  residentBytes[0] = resident
  if (resident > residentBytes[1]) residentBytes[1] = resident
  if (resident <= limitMb * BYTES_PER_MB) return
  try {
    writeSync(lifelineFd, JSON.stringify({ residentMb: Math.round(resident / BYTES_PER_MB), limitMb }))
  } finally {
    endGroup()
  }
}

/** The child leads its own group, so the group's id is the process's. */
function endGroup() {
  process.kill(-process.pid, 'SIGKILL')
}
