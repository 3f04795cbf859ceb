/**
 * English words whose other forms follow no rule: each line begins with the base form. Forms that are also common words with another
 * meaning ("saw", "left", "felt" the cloth, "lay") are listed where they are meant more often.
 */
const FORMS = `
be am is are was were been being
have has had having
do does did done doing
go goes went gone
say said
get got gotten
make made
know knew known
think thought
take took taken
see saw seen
come came
give gave given
find found
tell told
become became
leave left
feel felt
bring brought
begin began begun
keep kept
hold held
write wrote written
stand stood
hear heard
mean meant
meet met
run ran
pay paid
sit sat
speak spoke spoken
lead led
grow grew grown
lose lost
fall fell fallen
send sent
build built
understand understood
draw drew drawn
break broke broken
spend spent
rise rose risen
drive drove driven
buy bought
wear wore worn
choose chose chosen
eat ate eaten
drink drank drunk
sing sang sung
swim swam swum
win won
teach taught
catch caught
sell sold
fight fought
throw threw thrown
fly flew flown
forget forgot forgotten
sleep slept
steal stole stolen
ride rode ridden
hide hid hidden
shoot shot
show shown
wake woke woken
bake baked
bite bit bitten
blow blew blown
dig dug
feed fed
hang hung
shake shook shaken
shine shone
stick stuck
strike struck
sweep swept
swear swore sworn
tear tore torn
weave wove woven
freeze froze frozen
seek sought
deal dealt
dream dreamt
learn learnt
burn burnt
lend lent
bend bent
light lit
lie lied
die died dying
child children kid kids
person people
man men
woman women
foot feet
tooth teeth
mouse mice
goose geese
wife wives
life lives
knife knives
half halves
shelf shelves
wolf wolves
mom mum mama mommy mother
dad daddy papa father
grandma grandmother granny
grandpa grandfather
photo photograph pic picture
movie film
bike bicycle
tv television
math maths mathematics
favorite favourite fav
color colour
`;

/** From a form to its base form. */
export const BASE_FORMS: ReadonlyMap<string, string> = new Map(
  FORMS.split("\n")
    .map((line) => line.trim().split(" "))
    .flatMap(([base = "", ...others]) => others.map((other) => [other, base] as const)),
);
