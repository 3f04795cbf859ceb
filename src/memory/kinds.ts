import { stemOf } from "./fold.ts";

/**
 * What people mean when they name a kind: a question about the desserts that someone made means cakes and pies. Each line has the words
 * that name the kind, a colon, and its members. Only everyday English: what conversations ask for by its kind.
 */
const KINDS = `
family relative: mother father parent sister brother sibling son daughter wife husband kid grandma grandpa grandparent aunt uncle cousin nephew niece grandson granddaughter twin
child: son daughter baby toddler boy girl
parent: mother father
sibling: sister brother twin
spouse partner: wife husband girlfriend boyfriend fiance fiancee
friend: buddy pal mate bestie roommate friendship
colleague coworker: workmate teammate boss team
pet: dog cat puppy kitten pup doggy hamster rabbit bunny parrot turtle goldfish bird snake lizard gecko ferret
dog: puppy pup doggy shepherd labrador retriever poodle terrier bulldog
cat: kitten kitty
animal wildlife: dog cat horse bird fish turtle elephant lion tiger bear deer rabbit fox dolphin whale penguin cow pig sheep goat snake wolf monkey owl eagle
sport: basketball football soccer tennis baseball volleyball hockey golf swim surf ski snowboard rugby cricket badminton gymnastics wrestle skate skateboard athletics
exercise workout fitness: gym yoga run jog swim weights lift cardio pilates hike kickboxing boxing cycling aerobics stretch treadmill crossfit marathon squat pushup walk
martial: karate taekwondo judo kickboxing boxing aikido wrestling kung jitsu
instrument: guitar piano violin drum flute clarinet saxophone cello trumpet ukulele keyboard harp banjo harmonica bass
music: song band album concert singer jazz rock pop classical rap tune playlist melody lyric
musician: singer band guitarist pianist drummer rapper
food dish meal cuisine: pizza pasta burger salad soup sandwich sushi taco curry rice noodle steak chicken salmon bread cheese stew lasagna barbecue bbq grill roast dinner lunch breakfast recipe
dessert sweet treat: cake pie cookie chocolate brownie pudding cobbler tart muffin cupcake pastry candy donut cheesecake cream sundae
snack: chip cookie candy popcorn cracker nut chocolate
drink beverage: coffee tea juice beer wine soda smoothie cocktail lemonade espresso latte
fruit: apple banana orange strawberry blueberry mango peach grape cherry lemon
vegetable: carrot tomato potato onion pepper broccoli spinach cucumber
hobby interest pastime: paint draw read hike camp garden cook bake knit photography dance fish sew game pottery write sing surf chess puzzle craft woodwork collect
activity: hike camp swim paint picnic museum fish bike run dance cook bake craft kayak explore climb bowl beach
outdoor: hike camp fish kayak climb mountain mountaineering trail picnic garden beach lake forest backpack park
art artwork: paint draw sculpture pottery sketch watercolor canvas portrait mural illustration abstract landscape
craft: knit sew crochet pottery woodwork origami
book: novel author story trilogy memoir biography bookshelf fiction
author writer: novel novelist poet
genre: fantasy mystery thriller romance horror comedy drama sci
movie: cinema actor director trilogy theater watch
show: series episode season tv sitcom
game: chess poker console playstation xbox nintendo rpg fortnite minecraft puzzle monopoly card videogame gamer
car vehicle: truck motorcycle bus van suv sedan ford toyota tesla prius honda drive
country: america england france germany italy spain japan china india canada mexico brazil ireland scotland sweden norway greece turkey egypt thailand australia portugal netherlands switzerland korea vietnam
city: london paris rome york chicago boston seattle tokyo berlin barcelona toronto vancouver miami madrid amsterdam sydney dublin francisco angeles
state: california texas florida oregon washington colorado arizona nevada michigan hawaii minnesota
place location destination: park beach mountain city country town museum lake island forest cafe restaurant trip
trip travel vacation holiday: visit flight beach mountain hotel tour cruise roadtrip abroad journey getaway backpack
job career work occupation profession: teacher nurse doctor engineer manager lawyer chef designer programmer developer coach counselor office company boss promotion interview intern hire freelance shift employ business
business: shop store startup company customer client brand launch
degree education study school: university college class course graduate exam student diploma certificate semester
class course lesson: workshop teacher learn instructor
event: concert festival party parade conference fundraiser wedding ceremony exhibition tournament competition workshop fair race marathon gala meetup
celebration: party birthday anniversary wedding graduation
charity cause: shelter donate donation fundraiser homeless nonprofit volunteer awareness
competition contest: tournament championship race finals league
award achievement accomplishment: trophy medal win prize champion certificate proud
health medical illness condition: sick pain hurt injury surgery hospital doctor allergy asthma diabetes flu fever headache migraine diagnosis medication heart
injury: break sprain hurt ankle wrist knee fracture accident bruise bandage
accident: crash injury collision hit
emotion mood: happy sad angry excited nervous anxious proud scared grateful stressed relieved lonely calm overwhelmed joy frustrated
stress relax unwind: meditate yoga bath massage walk calm breathe peaceful
weather: rain snow sunny storm wind hot cold cloudy
disaster: flood fire earthquake storm hurricane tornado
clothes clothing outfit: dress shirt shoe jacket coat hat jeans suit sneaker sweater skirt boot hoodie
jewelry accessory: necklace ring bracelet earring watch pendant
gift present: birthday surprise card necklace
buy purchase item: new shop order store got
device gadget electronics: phone laptop computer tablet console camera headset monitor
color: red blue green yellow black white purple pink orange brown grey gray
plant: tree rose tulip cactus fern succulent herb garden
flower: rose tulip sunflower lily orchid daisy bouquet
nature: forest mountain river lake ocean beach sunset tree waterfall park
holiday: christmas thanksgiving halloween easter hanukkah
religion faith religious spiritual: church god pray prayer bible temple mosque
language: english spanish french german italian chinese japanese portuguese korean
season: spring summer fall autumn winter
money finance financial: salary loan saving budget debt dollar expensive pay bill
home house: apartment kitchen garden yard condo rent move neighborhood
problem challenge difficulty setback issue: struggle hard trouble obstacle tough stuck fail lose rough
goal dream aspiration ambition: want hope aim achieve
dance: ballet salsa tango contemporary choreography
diet nutrition: vegetable salad sugar vegan vegetarian healthy soda
relationship: date girlfriend boyfriend marry engage breakup divorce couple
marriage wedding: bride groom marry engage fiance honeymoon
lgbtq: transgender gay pride queer lesbian
politics political: election campaign policy vote mayor office
programming: python java javascript code software app
military: veteran army navy marine soldier
collectible collection: signed poster figurine card coin stamp jersey
symbol: represent mean stand
`;

/** From the term of a kind to the terms of its members. */
export const OF_KIND: ReadonlyMap<string, readonly string[]> = kinds();

function kinds(): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, Set<string>>();
  for (const line of KINDS.split("\n")) {
    const [names = "", members = ""] = line.split(":").map((part) => part.trim());
    for (const name of names
      .split(" ")
      .filter((word) => word !== "")
      .map(stemOf)) {
      const known = all.get(name) ?? new Set();
      for (const member of members.split(" ").map(stemOf)) if (member !== name) known.add(member);
      all.set(name, known);
    }
  }
  return new Map([...all].map(([name, members]) => [name, [...members]]));
}
