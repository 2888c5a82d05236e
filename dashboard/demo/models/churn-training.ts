/**
 * Demo: trains a model of which customers leave. Some data sets are broken, and deep trees do not fit into the first
 * machine that is tried.
 */

import { z } from 'zod'
import { Fatal, model } from '../../../src/model/model.ts'
import { withStack, works } from '../pace.ts'
import { isBrokenMonth } from '../requests.ts'

class DataContractBroken extends Fatal {
  override readonly name = 'DataContractBroken'
}

class DeviceOutOfMemory extends Error {
  override readonly name = 'DeviceOutOfMemory'
}

const DEPTH_THAT_FITS_MAX = 10

export const churnTraining = model({
  name: 'churn_training',
  version: '4',
  description: 'Gradient boosted trees on a month of customer data, cross-validated.',
  queue: 'gpu',
  executor: 'inline',
  expectedSeconds: 240,
  timeoutSeconds: 3_600,
  retry: { maxAttempts: 3, delaysSeconds: [10, 30] },
  facets: { verdict: 'verdict' },
  volatile: ['trained_seconds'],
  parameters: z.strictObject({
    dataset: z
      .string()
      .regex(/^crm\/\d{4}-\d{2}$/)
      .describe('Snapshot of the customer table'),
    learning_rate: z.number().gt(0).max(1).default(0.1),
    max_depth: z.int().min(2).max(16).default(6),
    trees: z.int().min(10).max(5_000).default(400),
    folds: z.int().min(2).max(10).default(5),
    warehouse_password: z.string().optional().describe('Never shown again'),
  }),
  async run({ dataset, learning_rate, max_depth, trees, folds }, ctx) {
    const rows = await ctx.step('load', async () => {
      ctx.logger.info(`loading ${dataset}`)
      await works(25, ctx.signal)
      if (isBrokenMonth(dataset)) throw brokenContract(dataset)
      return 1_284_310
    })
    if (max_depth > DEPTH_THAT_FITS_MAX && ctx.attempt === 1) {
      ctx.logger.warn('the device has 15.7 of 16.0 GiB in use')
      await works(15, ctx.signal)
      throw outOfMemory(max_depth)
    }
    const scores: number[] = []
    for (let fold = 1; fold <= folds; fold += 1) {
      ctx.progress({ fold, of: folds, best_auc: scores.length > 0 ? Math.max(...scores) : null })
      scores.push(
        await ctx.step(`fold ${fold}`, async () => {
          await works(trees / 12, ctx.signal)
          const auc = scoreOf(learning_rate, max_depth, fold)
          ctx.logger.info(`fold ${fold} of ${folds}: auc ${auc}`, { rows: Math.round(rows / folds) })
          return auc
        }),
      )
    }
    const auc = Math.round((scores.reduce((sum, score) => sum + score, 0) / folds) * 10_000) / 10_000
    return {
      auc,
      folds: scores,
      rows,
      features: { tenure_months: 0.31, tickets_90d: 0.22, plan: 0.17, last_login_days: 0.16, discount: 0.14 },
      verdict: auc > 0.85 ? 'promote' : 'keep current',
      trained_seconds: Math.round(trees / 12) * folds,
    }
  },
})

function scoreOf(learningRate: number, depth: number, fold: number): number {
  const score = 0.87 - Math.abs(learningRate - 0.08) * 0.3 - Math.abs(depth - 7) * 0.004 + (fold % 3) * 0.003
  return Math.round(score * 10_000) / 10_000
}

function brokenContract(dataset: string): Error {
  const failure = new DataContractBroken(
    `column "tenure_months" is missing in ${dataset}; it has "tenure" instead; was it renamed by the export?`,
  )
  return withStack(
    failure,
    'requireColumns (/srv/models/churn/contract.ts:37:11)',
    'loadSnapshot (/srv/models/churn/load.ts:52:3)',
    'process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
  )
}

function outOfMemory(depth: number): Error {
  return withStack(
    new DeviceOutOfMemory(`tried to allocate 2.25 GiB for histograms of depth ${depth}; 0.31 GiB are free on device 0`),
    'allocate (/srv/models/churn/device.ts:118:9)',
    'buildHistograms (/srv/models/churn/boost.ts:204:17)',
    'trainFold (/srv/models/churn/boost.ts:61:22)',
  )
}
