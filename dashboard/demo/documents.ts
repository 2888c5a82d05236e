/** The documents of the demo: invoices and notes as text, some twice under other names, two that nobody can read. */

export type DemoDocument = { name: string; type: string; text: string }

const SUPPLIERS = ['Arbor Papier GmbH', 'Bright Bay Logistics', 'Calder & Sons', 'Dubois Électricité', 'Ferro Nord SpA']

export function demoDocuments(): DemoDocument[] {
  const invoices = SUPPLIERS.flatMap((supplier, index) => [invoice(supplier, 2_041 + index * 7), note(supplier, index)])
  const [first, , third] = invoices
  return [
    ...invoices,
    { ...first!, name: `copy of ${first!.name}` },
    { ...third!, name: third!.name.replace('invoice', 'scan') },
    { name: 'delivery-note-0412.pdf', type: 'application/pdf', text: '%PDF-1.7\n1 0 obj\n<< /Type /Catalog' },
    { name: 'empty.txt', type: 'text/plain', text: ' \n' },
    totals(),
  ]
}

function invoice(supplier: string, number: number): DemoDocument {
  const net = number * 3.5
  const text = `# Invoice ${number}

${supplier}
Rue de la Gare 12, Lyon (45.7640, 4.8357)
Date: 2026-04-${String((number % 27) + 1).padStart(2, '0')}

| Item | Amount |
|---|---|
| Delivery of goods as ordered | ${net.toFixed(2)} EUR |
| VAT 20 % | ${(net * 0.2).toFixed(2)} EUR |

Please pay ${(net * 1.2).toFixed(2)} EUR within 30 days. Questions: billing@${supplier.split(' ')[0]!.toLowerCase()}.example
`
  return { name: `invoice-${number}.md`, type: 'text/markdown', text }
}

function note(supplier: string, index: number): DemoDocument {
  const text = `Notes of the call with ${supplier} on 2026-05-${String(index + 4).padStart(2, '0')}.

They will deliver the remaining pallets next week and asked us to confirm the address of the warehouse in Rotterdam.
The price of transport rises by 3 % from July. Anna will send the new contract to purchasing@example.com before Friday.
`
  return { name: `call-${supplier.split(' ')[0]!.toLowerCase()}.txt`, type: 'text/plain', text }
}

function totals(): DemoDocument {
  const rows = SUPPLIERS.map(
    (supplier, index) => `${supplier},${2_041 + index * 7},${((2_041 + index * 7) * 4.2).toFixed(2)},EUR`,
  )
  return { name: 'totals-april.csv', type: 'text/csv', text: ['supplier,invoice,amount,currency', ...rows].join('\n') }
}
