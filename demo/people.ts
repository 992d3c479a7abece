import type { Application } from '../src/application/application.ts'
import { randomFrom } from '../test/support/random.ts'

/** The number of applications. Two people apply a second time. */
export const applicationCount = 200

/** The seed of all random choices. */
const seed = 2027

/**
 * The applicants' regions: first names, surnames and the first digits of a phone number. The phone numbers belong to nobody
 * or are too short. Names in scripts other than Latin have a Latin name after a slash, for the email address.
 */
const regions: { phone: string; first: string; last: string }[] = [
  {
    phone: '+44 20 7946 0',
    first: 'Eleanor, Callum, Imogen, Rhys, Harriet, Desmond, Nia, Alistair, Bryony',
    last: 'Ashworth, Penhaligon, Okoro, Thistlewood, Marsden, Pryce, Haldane, Birtwistle, Fenn',
  },
  {
    phone: '+1 (415) 555-01',
    first: 'Maya, Jordan, Wyatt, Keisha, Theodore, Brooke, Marcus, Savannah, Eli',
    last: 'Whitfield, Castellano, Brightwater, Delacroix, Huang, Ferris, Jefferson, Lindqvist, Novak',
  },
  {
    phone: '+49 30 23125 0',
    first: 'Anneke, Jürgen, Friederike, Tobias, Käthe, Lennart, Wiebke, Moritz, Svenja',
    last: 'Brückner, von Ahlefeld, Schäfer, Oelrich, Weiß, Yıldırım, Hagedorn, Kröger, Lindemann',
  },
  {
    phone: '+33 1 99 00 0',
    first: 'Aurélie, Théo, Maëlle, Bastien, Clémence, Ousmane, Solène, Loïc, Inès',
    last: 'Charpentier, Le Goff, Beaumont, Diallo, Rousselot, Haddad, Montclair, Vasseur, d’Aubigny',
  },
  {
    phone: '+34 555 01',
    first: 'Lucía, Íñigo, Marisol, Álvaro, Nerea, Joaquín, Begoña, Martí, Ximena',
    last: 'Etxeberria, Navarro, Puig Soler, Quintana, Ibáñez, Cañadas, Roldán, Ferrer, Zubizarreta',
  },
  {
    phone: '+351 555 01',
    first: 'Beatriz, Tomás, Joana, Rui, Leonor, Afonso, Matilde, Duarte, Filipa',
    last: 'Carvalhal, Antunes, Sequeira, Moura, Falcão, Brandão, Teles, Vilhena, Quintela',
  },
  {
    phone: '+39 555 01',
    first: 'Ginevra, Matteo, Ludovica, Edoardo, Chiara, Niccolò, Fiamma, Sandro, Ilaria',
    last: 'Bellandi, Castagna, De Santis, Fioravanti, Morandi, Pellegrini, Rinaldi, Zanetti, Vitale',
  },
  {
    phone: '+46 8 465 004 0',
    first: 'Åsa, Björn, Linnéa, Torsten, Maj, Sixten, Ylva, Göran, Tuva',
    last: 'Öberg, Ekström, Nyqvist, Sandström, Hjelm, Ljungberg, Åkerlund, Falk, Rosengren',
  },
  {
    phone: '+45 555 01',
    first: 'Signe, Rasmus, Freja, Mikkel, Astrid, Jeppe, Karoline, Søren, Liv',
    last: 'Østergaard, Holm, Kjær, Lauridsen, Bach, Thorup, Winther, Dahl, Skov',
  },
  {
    phone: '+31 555 01',
    first: 'Femke, Joost, Sanne, Daan, Roos, Willem, Lotte, Sjoerd, Yasmin',
    last: 'van der Meer, Bakker, de Wit, Hoekstra, Terpstra, Verhoeven, Postma, El Amrani, Zijlstra',
  },
  {
    phone: '+48 555 01',
    first: 'Zofia, Łukasz, Agnieszka, Bartosz, Kinga, Stanisław, Jagoda, Wojciech, Hania',
    last: 'Kowalczyk, Wróbel, Zielińska, Pawlak, Sikora, Jaworski, Dąbrowska, Mazur, Górska',
  },
  {
    phone: '+420 555 01',
    first: 'Markéta, Ondřej, Zuzana, Radek, Běla, Vojtěch, Jitka, Štěpán, Klára',
    last: 'Dvořáková, Hruška, Kučerová, Beneš, Procházková, Zeman, Šimková, Vlček, Malá',
  },
  {
    phone: '+353 20 913 0',
    first: 'Aoife, Cillian, Niamh, Fionn, Sorcha, Declan, Gráinne, Tadhg, Orla',
    last: 'O’Rourke, Gallagher, Mac Giolla, Brennan, Keane, Tierney, Ní Dhomhnaill, Shanahan, Quill',
  },
  {
    phone: '+91 555 01',
    first: 'Ananya, Rohan, Meera, Vikram, Ishita, Karthik, Lakshmi, Arjun, Tara',
    last: 'Raghunathan, Deshpande, Bose, Chaudhary, Iyer, Menon, Kulkarni, Sandhu, Fernandes',
  },
  {
    phone: '+234 555 01',
    first: 'Chiamaka, Tunde, Ngozi, Emeka, Folake, Babajide, Zainab, Obinna, Yewande',
    last: 'Adeyemi, Okonkwo, Balogun, Eze, Abubakar, Olawale, Nwosu, Danjuma, Ibekwe',
  },
  {
    phone: '+254 555 01',
    first: 'Wanjiru, Kipchoge, Achieng, Mwangi, Nafula, Otieno, Makena, Baraka, Zawadi',
    last: 'Kamau, Ruto, Odhiambo, Njoroge, Wekesa, Mutua, Kariuki, Chebet, Onyango',
  },
  {
    phone: '+55 555 01',
    first: 'Thaís, Caetano, Luana, Rodrigo, Iara, Thiago, Marília, João Pedro, Débora',
    last: 'Guimarães, Sampaio, Nascimento, Assunção, Teixeira, Lacerda, Conceição, Prado, Bittencourt',
  },
  {
    phone: '+52 555 01',
    first: 'Citlali, Emiliano, Renata, Joel, Paloma, Rigoberto, Itzel, Saúl, Araceli',
    last: 'Xochihua, Villaseñor, Montes de Oca, Arriaga, Peñaloza, Cuevas, Ortega, Zamora, Luján',
  },
  {
    phone: '+81 555 01',
    first: 'Haruka, Kenji, Aiko, Sōta, Naomi, Daichi, Yuki, Ren, 健太/Kenta',
    last: 'Fujimori, Takeda, Ōnishi, Nakagawa, Shimizu, Hoshino, Kurosawa, Matsuda, 佐々木/Sasaki',
  },
  {
    phone: '+82 555 01',
    first: 'Ji-woo, Min-jun, Seo-yeon, Hyun, Da-eun, Jae, Soo-ah, Tae-yang, 서연/Seoyeon',
    last: 'Kim, Baek, Yoon, Seong, Noh, Hwang, Kwak, Lim, 박/Park',
  },
  {
    phone: '+972 555 01',
    first: 'Noa, Eitan, Shira, Yonatan, Tamar, Lior, Hila, Amit, Layla',
    last: 'Ben-Ami, Shaked, Mizrahi, Alon, Dagan, Peretz, Golan, Regev, Khoury',
  },
  {
    phone: '+30 555 01',
    first: 'Ελένη/Eleni, Мария/Maria, 小明/Xiaoming, ليلى/Layla, Dimitra, Andriy, Ayşe, Đorđe, Ngọc',
    last: 'Παπαδοπούλου/Papadopoulou, Соколова/Sokolova, 王/Wang, حداد/Haddad, Stavrou, Kovalenko, Öztürk, Živković, Nguyễn',
  },
]

/** The two parts of companies' names. */
const stems = `Tidewater, Lantern, Copper Fox, Northlight, Halfmoon, Juniper, Slow River, Ferrous, Papertrail, Quarry,
  Saltbox, Meridian, Wildflower, Anvil, Harbourside, Kestrel, Bluebell, Cobalt, Driftwood, Ember, Foxglove, Granite,
  Hazel, Inkwell, Jetty, Kindling, Loom, Marigold, Nettle, Orchard, Pebble, Quill, Rookery, Sandbar, Thimble, Umbra,
  Viaduct, Willow, Yarrow, Zephyr, Almanac, Bramble, Cartwheel, Dovetail, Eastgate, Fathom, Greenhouse, Hollow Oak,
  Ironwood, Jackdaw, Lighthouse, Mossy Stone, Nightjar, Oxbow, Plumb Line, Ripple, Seedling, Tangram, Undertow, Windmill`
const kinds = `Labs, Robotics, Health, & Sons, Foods, Energy, Studio, Analytics, Ceramics, Logistics, Learning, Mobility,
  Software, Materials, Audio, Coffee, Insurance, Biotech, Games, Textiles, Maps, Press`

/** The sentences of reasons: the first one (`openers`), those in the middle (`details`), and the last one (`wishes`). */
const openers = `I have not finished a book in two years.
My daughter asked me why I talk to my phone more than to her.
I built an app that takes people's time, and it took mine as well.
Eleven years of building companies, and I cannot remember a single weekend without a laptop.
I used to write code for joy. Now I answer messages about code.
We sold our first company in spring and I have no idea what to do with a free hour.
Every decision I make is made between two notifications.
To hear myself think.
Because I am tired, in a way that sleep does not mend.
Our team is remote, in nine time zones, and somebody is always awake.
I tried a weekend without a phone last autumn and lasted four hours.
My co-founder did something like this and came back a different person.
I want to know whether the company runs without me.
I am writing this at two in the morning, which says enough.
I lead a company of people who fix other people's sleep. Mine is a ruin.
There is a notebook on my desk that has been empty since January.
I grew up on a farm without a telephone and I would like to meet that person again.
My doctor suggested it, politely, twice.
I check my mail before I open both eyes.
Since the funding round I have been a calendar with legs.
I would like to be bored again.
I gave up social media in March, and replaced it with dashboards.
After a burnout two years ago I promised myself this every year and never went.
I work from a kitchen table with three screens on it.
A friend sent me your page and I applied before I had read to the end.
I make hearing aids, and I have stopped listening.
My attention lasts as long as a video of a cat.
I want to think about one question for a week instead of a hundred for a minute.
Running a newsroom means that nothing is ever over.
I have been on call, one way or another, since 2016.
The best idea I ever had came on a train with no signal.
I am not sure that I can do this, which is why I want to.
My father asked for my number. He had it. He wanted me to answer.
I lost a friendship to being busy.
I teach founders how to focus, and I am a fraud.
I counted: 211 times a day.
We are about to hire our tenth person and I want to be somebody worth working for.
Silence frightens me a little, and I would like to find out why.
I have been a founder for as long as I have been a father, and only one of the two gets my mornings.
The last time I was offline was in hospital.`.split('\n')

const details =
  `I tried timers, grey screens, a telephone with buttons, and a box with a lock. I know where the key is.
We are four people and any one of us can look after the shop for a week; we tested it in June.
I sleep badly, I read the same paragraph three times, and I have begun to forget names.
My work is good and I am proud of it. It is only that there is nothing else left in the day.
The board knows that I am applying and thinks that it is a joke.
I do not want another productivity method. I want a table, some paper, and people who have nothing to sell to me.
Last year I walked for three days in the hills and made the two best decisions of my career.
What I would bring: I can cook for forty, I am quiet in the mornings, and I know a lot about bees.
I paid for a retreat in the south once; it had a hashtag and excellent wireless.
When I stop, I notice how loud it was. Then I start again, because the noise is also a kind of company.
I speak at conferences about attention and read my notes from a phone.
Our customers are night nurses. They taught me more about rest than any book.
I have a hard conversation to prepare, and I cannot do that in a place where I can be reached.
I would like to draw again. I studied it, and I have not held a pencil in six years.
I have been sober for four years, so I know the shape of this.
My partner says that I am present the way a lamp is present.
I run a workshop with six apprentices who laugh at me when I look at my wrist.
The company does well. I do not.
I make software for schools and would like to find out what the children mean when they say "nothing".
I am a good listener when I am there, and I would like to be there.
There is a product that I want to build slowly, with others, without telling anybody about it first.
I never had an office, so I never leave it.
Two of my employees took sick leave for exactly this. I would rather go first than third.
I want to find out which of my habits are mine.`.split('\n')

const wishes = `Without a phone, with a pen. The rest of the year is loud enough.
If there is a lake, I will be in it.
I can come at any time in the spring, and I would stay longer if you let me.
I would be grateful for a place, and I understand if others need it more.
Please tell me if there is somebody in a wheelchair among you already; I would like to know how the paths are.
I hope to go home with one question fewer.
I am happy to share a room, and I do not snore. I have witnesses.
I would help in the kitchen.
If you are full, I would like to be on the list for the next one.
I will write to you about it on paper.
Then I want to go home and delete half of my job.
I promise not to pitch.
I would like to come with my co-founder, who applies on her own.
A week would do. Two would frighten me, in a good way.
One letter a day is all that I want to write.
That is all. I could say it longer, but I would only be performing.`.split('\n')

/** Reasons in other languages, by first name. */
const reasonsByFirstName: Record<string, string> = {
  Ελένη:
    'Θέλω μια εβδομάδα χωρίς οθόνη.\n\nI run a small press in Thessaloniki and have not read for pleasure since we opened.',
  Мария:
    'Хочу тишины. My English is better than my sleep: I have led a team through three launches in one year and would like to remember what I did before.',
  小明: '我想安静一个星期。\n\nI design chips, and I have not seen the stars since I moved to the city.',
  健太: '一週間、画面のない生活をしてみたいです。\n\nMy company makes paper. I spend my days on a screen to sell it.',
  ليلى: 'أحتاج إلى أن أسمع نفسي مرة أخرى. I translate other people’s words for a living, and I would like to find some of mine.',
  서연: '조용한 곳에서 글을 쓰고 싶습니다. We are a studio of three and we have not taken a day off at the same time.',
}
const longReason = `I founded my first company at nineteen, from a room above a bicycle shop, because I could not find a job that let me sleep until ten. I am forty-one now and get up at five, to have an hour before the messages begin. They begin at four.

The work is good. We make valves for dialysis machines, thirty-one people in two towns, and there are some thousands of people who are alive on a Tuesday because of something that we argued about on a Monday. I say that so that you know that I do not want to leave it.

But I have noticed that I do not think any more. I react, quickly and quite well. In the spring our head of production asked me where I wanted the company to be in five years. I opened my mouth, and out came a slide.

So I would like to sit somewhere without a slide. I would like to write longhand, walk, wash up, talk with people who have the same illness, and come home with an answer to her question, even if it is a short one.`
const customSolutions = `A cabin without a router; A telephone with buttons; A dog; Coaching, for a year; A lock box with a timer;
  A silent week in a monastery; Sailing lessons; Website blockers, all of them; Hypnosis; A garden; A second flat without internet;
  My assistant keeps my phone`

const splitList = (text: string, separator = ','): string[] =>
  text.split(separator).map((each) => each.trim())

/** Converts a text to characters that an email address may have. */
const asciiOf = (text: string) =>
  text
    .normalize('NFD')
    .replaceAll(/[øØ]/g, 'o')
    .replaceAll(/[łŁ]/g, 'l')
    .replaceAll(/[đĐ]/g, 'd')
    .replaceAll('ı', 'i')
    .replaceAll('ß', 'ss')
    .replaceAll('æ', 'ae')
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .trim()
    .replaceAll(/[ -]+/g, '-')

/** All applications in the order of their arrival. Each call returns the same applications. */
export function people(): Application[] {
  const random = randomFrom(seed)
  const upTo = (number: number) => Math.floor(random() * number)
  const shuffled = <Item>(items: readonly Item[]) =>
    items
      .map((item) => ({ item, order: random() }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ item }) => item)
  /** Returns a function that returns one item after another in random order, and starts again after the last. */
  const shuffledCycle = <Item>(items: readonly Item[]) => {
    let remaining: Item[] = []
    return () => {
      if (remaining.length === 0) remaining = shuffled(items)
      return remaining.pop() as Item
    }
  }
  const [opener, detail, wish] = [shuffledCycle(openers), shuffledCycle(details), shuffledCycle(wishes)]
  const [stem, kind, customSolution] = [
    shuffledCycle(splitList(stems)),
    shuffledCycle(splitList(kinds)),
    shuffledCycle(splitList(customSolutions, ';')),
  ]
  const paid = shuffledCycle([
    'not',
    'not',
    'not',
    'screen',
    'screen',
    'travel',
    'travel',
    'work',
    'custom',
    '',
  ] as const)
  const size = shuffledCycle(['just-me', 'just-me', '1-3', '1-3', '1-3', '3-10', '3-10', '10+', ''] as const)

  const shortReasons = new Set<string>()
  const reason = () => {
    const choice = random()
    const first = opener()
    if (choice < 0.2 && !shortReasons.has(first)) {
      shortReasons.add(first)
      return first
    }
    if (choice < 0.5) return `${first} ${detail()}`
    if (choice < 0.8) return `${first} ${detail()}\n\n${wish()}`
    return `${first} ${detail()}\n\n${detail()} ${detail()}\n\n${wish()}`
  }

  const persons = shuffled(
    regions.flatMap(({ phone, first, last }) => {
      const surnames = splitList(last)
      return splitList(first).map((name, index) => ({ phone, first: name, last: surnames[index] ?? '' }))
    }),
  )
  const applications = persons.map(({ phone, first, last }, index): Application => {
    const [firstName = '', firstPlain = firstName] = first.split('/')
    const [lastName = '', lastPlain = lastName] = last.split('/')
    const company = `${stem()} ${kind()}`
    const handle = `${asciiOf(firstPlain)}-${asciiOf(lastPlain)}`
    const domain =
      random() < 0.7 ? `${asciiOf(company)}.example` : ['post', 'mail', 'letters'][upTo(3)] + '.example'
    const paidSolution = paid()
    return {
      first_name: firstName,
      last_name: lastName,
      email: `${handle.replaceAll('-', '.')}@${domain}`,
      phone: phone + String(upTo(100)).padStart(2, '0'),
      linkedin:
        [`linkedin.com/in/${handle}`, `https://www.linkedin.com/in/${handle}`, `in/${handle}`][upTo(3)] ?? '',
      company,
      paid_solution: paidSolution,
      custom_solution: paidSolution === 'custom' ? customSolution() : '',
      team_size: size(),
      reason: reasonsByFirstName[firstName] ?? (index === 17 ? longReason : reason()),
      consent: true,
    }
  })
  // Two people apply again with another reason.
  for (const [firstIndex, secondIndex] of [
    [21, 96],
    [58, 171],
  ] as const) {
    const application = applications[firstIndex]
    if (application)
      applications.splice(secondIndex, 0, {
        ...application,
        reason: `I wrote to you before, in a hurry. ${detail()}\n\n${wish()}`,
      })
  }
  return applications.slice(0, applicationCount)
}
