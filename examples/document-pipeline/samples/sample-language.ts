/**
 * Sentences of ordinary business letters in five languages; `{date}`, `{amount}`, `{email}` and `{place}` are filled in by
 * sample-facts.ts.
 */

export type SampleLanguage = 'en' | 'fr' | 'de' | 'es' | 'it'

export const LANGUAGES: readonly SampleLanguage[] = ['en', 'fr', 'de', 'es', 'it']

type Sentences = { title: string; facts: string[]; filler: string[] }

export const SENTENCES: Record<SampleLanguage, Sentences> = {
  en: {
    title: 'Inspection report',
    facts: [
      'The inspection took place on {date} and was followed by a short meeting.',
      'The repair of the pump will cost {amount} including transport.',
      'Questions about this report should be sent to {email} before the end of the month.',
      'The measuring station stands at {place} on the northern bank of the river.',
    ],
    filler: [
      'The water level has been falling slowly since the beginning of the summer.',
      'Our engineers checked every valve and found that most of them work as they should.',
      'The committee agreed that the old bridge must be closed to heavy traffic.',
      'All the measurements were repeated twice because the first instrument was damaged.',
      'We would like to thank the residents for their patience during the work.',
      'The new sensors send their readings every hour and store them for a year.',
      'Nobody was hurt, and the damage to the building is smaller than we had feared.',
      'The next report will describe the results of the laboratory in more detail.',
    ],
  },
  fr: {
    title: 'Rapport de visite',
    facts: [
      'La visite a eu lieu le {date} et a été suivie par une courte réunion.',
      'La réparation de la pompe coûtera {amount} avec le transport.',
      'Les questions sur ce rapport doivent être envoyées à {email} avant la fin du mois.',
      'La station de mesure se trouve à {place} sur la rive nord de la rivière.',
    ],
    filler: [
      "Le niveau de l'eau baisse lentement depuis le début de l'été dans toute la région.",
      'Nos ingénieurs ont vérifié toutes les vannes et la plupart fonctionnent comme prévu.',
      'Le comité a décidé que le vieux pont doit être fermé aux véhicules lourds.',
      'Toutes les mesures ont été répétées deux fois parce que le premier appareil était abîmé.',
      'Nous remercions les habitants de leur patience pendant les travaux.',
      'Les nouveaux capteurs envoient leurs valeurs toutes les heures et les gardent pendant un an.',
      'Personne ne fut blessé et les dégâts du bâtiment sont moins graves que nous ne le pensions.',
    ],
  },
  de: {
    title: 'Prüfbericht',
    facts: [
      'Die Prüfung fand am {date} statt und endete mit einer kurzen Besprechung.',
      'Die Reparatur der Pumpe wird mit dem Transport {amount} kosten.',
      'Fragen zu diesem Bericht schicken Sie bitte vor dem Ende des Monats an {email} zurück.',
      'Die Messstation steht bei {place} am nördlichen Ufer des Flusses.',
    ],
    filler: [
      'Der Wasserstand sinkt seit dem Beginn des Sommers langsam, aber stetig.',
      'Unsere Techniker haben jedes Ventil geprüft, und die meisten arbeiten, wie sie sollen.',
      'Der Ausschuss hat beschlossen, dass die alte Brücke für schwere Fahrzeuge gesperrt wird.',
      'Alle Messungen wurden zweimal wiederholt, weil das erste Gerät beschädigt war.',
      'Wir danken den Anwohnern für ihre Geduld während der Arbeiten.',
      'Die neuen Fühler senden ihre Werte jede Stunde und speichern sie ein Jahr lang.',
      'Niemand wurde verletzt, und der Schaden am Gebäude ist kleiner, als wir befürchtet hatten.',
    ],
  },
  es: {
    title: 'Informe de inspección',
    facts: [
      'La inspección tuvo lugar el {date} y terminó con una breve reunión.',
      'La reparación de la bomba costará {amount} con el transporte incluido.',
      'Las preguntas sobre este informe se deben enviar a {email} antes del fin de mes.',
      'La estación de medida se encuentra en {place} en la orilla norte del río.',
    ],
    filler: [
      'El nivel del agua baja lentamente desde el comienzo del verano en toda la región.',
      'Nuestros ingenieros revisaron todas las válvulas y la mayoría funciona como debe.',
      'El comité decidió que el puente viejo debe cerrarse a los vehículos pesados.',
      'Todas las mediciones se repitieron dos veces porque el primer aparato estaba dañado.',
      'Queremos dar las gracias a los vecinos por su paciencia durante las obras.',
      'Los nuevos sensores envían sus valores cada hora y los guardan durante un año.',
      'Nadie resultó herido y los daños del edificio son menores de lo que se temía.',
    ],
  },
  it: {
    title: 'Rapporto di ispezione',
    facts: [
      "L'ispezione si è svolta il {date} e si è conclusa con una breve riunione.",
      'La riparazione della pompa costerà {amount} compreso il trasporto.',
      'Le domande su questo rapporto devono essere inviate a {email} prima della fine del mese.',
      'La stazione di misura si trova a {place} sulla riva nord del fiume.',
    ],
    filler: [
      "Il livello dell'acqua scende lentamente dall'inizio dell'estate in tutta la regione.",
      'I nostri tecnici hanno controllato tutte le valvole e la maggior parte funziona come deve.',
      'Il comitato ha deciso che il vecchio ponte deve essere chiuso ai veicoli pesanti.',
      'Tutte le misure sono state ripetute due volte perché il primo strumento era danneggiato.',
      'Ringraziamo gli abitanti per la loro pazienza durante i lavori.',
      'I nuovi sensori inviano i loro valori ogni ora e li conservano per un anno.',
      'Nessuno è rimasto ferito e i danni alla casa sono minori di quanto si temeva.',
    ],
  },
}
