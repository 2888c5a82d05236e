import { describe, expect, test } from 'vitest'
import type { Delivery } from '../store/ports/deliveries.ts'
import { presentDeliveryDetail, type ShowMail } from './present-delivery.ts'

const DELIVERY: Delivery = {
  id: '0199aa00-0000-7000-8000-000000000001',
  receiverId: '0199aa00-0000-7000-8000-000000000002',
  channel: 'mail',
  owner: 'ana',
  kind: 'failure',
  messageId: 'm_1',
  data: { kind: 'failure', api_key: 'canary' },
  state: 'DELIVERED',
  createdAt: new Date(0),
  availableAt: new Date(0),
  attempts: 1,
  finishedAt: new Date(1_000),
  lastError: null,
}

const shown = (changes: Partial<Delivery>, showMail: ShowMail | undefined) =>
  presentDeliveryDetail({ delivery: { ...DELIVERY, ...changes }, attempts: [] }, { options: {}, showMail })

describe('the mail of a delivery', () => {
  const written: ShowMail = ({ data }) => ({ subject: 'About 3 documents', text: JSON.stringify(data), html: '<p>' })

  test('is shown as its reader has it, written of what may be shown', () => {
    expect(shown({}, written).mail).toEqual({
      subject: 'About 3 documents',
      text: '{"kind":"failure","api_key":"[redacted]"}',
      html: '<p>',
    })
  })

  test('is null when it is none, when nobody writes mails here, and when it cannot be written', () => {
    const broken: ShowMail = () => {
      throw new Error('no such template')
    }
    expect(
      [shown({ channel: 'webhook' }, written), shown({}, undefined), shown({}, broken)].map(({ mail }) => mail),
    ).toEqual([null, null, null])
  })
})
