/** Who hears of what happens: programs by webhooks, people by mail. */

import { PageTitle } from '../../parts/page-title.tsx'
import { MailSection } from './mail-section.tsx'
import { WebhooksSection } from './webhooks-section.tsx'

export default function ReceiversScreen() {
  return (
    <>
      <PageTitle title="Webhooks and mail" note="Who is told what happens here" />
      <WebhooksSection />
      <MailSection />
    </>
  )
}
