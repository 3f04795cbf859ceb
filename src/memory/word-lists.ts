/** Words by their use, folded like a text: English, and the most common ones of some other languages. */

const list = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/).filter((word) => word !== ""));

/** Words that are in most texts and most questions, and say nothing about either. */
export const STOP_WORDS = list(`
a about above after again against all am an and any are as at be because been before being below between both but by can
could did do does doing don down during each few for from further get got had has have having he her here hers herself him
himself his how i if in into is it its itself just let me more most my myself no nor not now of off on once only or other
our ours ourselves out over own same she should so some such than that the their theirs them themselves then there these
they this those through to too under until up upon us very was we were what when where which while who whom whose why will
with would you your yours yourself yourselves s t m re ve ll d isn aren wasn weren doesn didn won wouldn couldn shouldn
haven hasn hadn also may might must shall ever many much long often
de la el en y que los las un una del al se por con para es le les des et du est il elle une der die das und ist ein eine
den dem nicht ich du wir mit zu auf je tu`);

/** Everyday words of all conversations: a question that shares no other word with a text asks for something else. English. */
export const PLAIN_WORDS = list(`
amazing awesome back beautiful best better big bit bring busy call capture care change chat check come cool day different doing enjoy ever
excited exciting experience fantastic far favorite feel finally find friend fun future get getting give glad go going good got great guess
guy happen happy hard hear heard help hope idea important incredible inspiring interesting kind know last latest let life like little live
long look lot love made make mean meet miss moment much need new next nice old original other people photo pic picture place plan pretty
proud put ready really reason recently right say see seem share show similar some soon sound special start stay still story stuff super
support sure take talk tell thank thing think thought time today together tomorrow tried true try type understand use view visit wait want
way week well while whole wish wonderful work world worth wow year yesterday`);

/** The same for Chinese: characters that join and modify others, and name nothing. */
export const FUNCTION_SIGNS = /[的了是我你他她它们吗呢吧啊很都在有和就不也还这那哦嗯呀着过得地]/;

/** Words by which speakers mean themselves. */
export const FIRST_PERSON = list(`
i im ive id ill me my mine myself we us our ours ourselves yo mi mio nosotros je moi mon ma mes nous ich mich mir mein
meine wir uns unser eu meu minha`);

/** Words by which speakers mean the person they talk to. */
export const SECOND_PERSON = list(`
you your yours yourself du dich dir dein deine deinen tu te ton ta tes vous votre tú ti tus usted você seu sua`);
export const SECOND_PERSON_SPACELESS = /[你您]|あなた|คุณ/u;

/** Names of roles of speakers: people, and those who answer them. */
export const PERSON_ROLES = list("user human customer client contact person me");
export const AGENT_ROLES = list("assistant agent ai bot model chatgpt claude gemini copilot system");

/** The same in scripts without spaces. */
export const FIRST_PERSON_SPACELESS = /[我俺咱私僕]|わたし|ぼく|ฉัน|ผม/u;

export const MONTHS: readonly string[] = [
  "january february march april may june july august september october november december".split(" "),
].flat();

/** Words that say when. */
export const TIME_WORDS = list(`
yesterday today tomorrow tonight ago last next week weeks weekend month months year years day days recently soon since
morning evening afternoon monday tuesday wednesday thursday friday saturday sunday ${MONTHS.join(" ")} summer winter
spring fall autumn ayer hoy manana hier heute gestern morgen demain semana mes ano woche monat jahr semaine mois`);

export const TIME_SPACELESS =
  /昨天|今天|明天|上周|下周|上个月|去年|今年|明年|昨日|今日|明日|先週|来週|先月|เมื่อวาน|วันนี้|พรุ่งนี้/u;

export const NUMBER_WORDS = list(`
one two three four five six seven eight nine ten eleven twelve dozen hundred thousand once twice couple several`);
