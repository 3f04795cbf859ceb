/** English in the letters of another script, as one would write it in Latin ones. */

const TABLES: readonly string[] = [
  "аa бb вv гg дd еe ёe жj зz иi йy кk лl мm нn оo пp рr сs тt уu фf хh цts чch шsh щsh ыi эe юu яa ьʼ ъʼ іi їi єe",
  "αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υu φf χh ψps ωo",
  "اa أa إi آa بb تt ثth جg حh خkh دd ذth رr زz سs شsh صs ضd طt ظz عa غgh فf قk كk لl مm نn هh وu يi ىa ةt پp چch گg ڤv کk یi",
  "אa בb גg דd הh וu זz חh טt יi כk ךk לl מm םm נn ןn סs עa פp ףp צts ץts קk רr שsh תt",
  "अa आa इi ईi उu ऊu एe ऐe ओo औo कk खkh गg घgh चch छch जj झj टt ठt डd ढd तt थth दd धdh नn पp फf बb भbh मm यy रr लl वv शsh षsh सs हh ाa िi ीi ुu ूu ेe ैe ोo ौo ्ʼ ंn ़ʼ",
  "アa イi ウu エe オo カka キki クku ケke コko ガga ギgi グgu ゲge ゴgo サsa シshi スsu セse ソso ザza ジji ズzu ゼze ゾzo タta チchi ツtsu テte トto ダda ヂji ヅzu デde ドdo ナna ニni ヌnu ネne ノno ハha ヒhi フfu ヘhe ホho バba ビbi ブbu ベbe ボbo パpa ピpi プpu ペpe ポpo マma ミmi ムmu メme モmo ヤya ユyu ヨyo ラra リri ルru レre ロro ワwa ヲo ンn ァa ィi ゥu ェe ォo ャya ュyu ョyo ッʼ ーʼ ヴv",
  "ᄀg ᄁk ᄂn ᄃd ᄄt ᄅr ᄆm ᄇb ᄈp ᄉs ᄊs ᄋʼ ᄌj ᄍj ᄎch ᄏk ᄐt ᄑp ᄒh ᅡa ᅢe ᅣya ᅥo ᅦe ᅧyo ᅩo ᅪwa ᅭyo ᅮu ᅯwo ᅱwi ᅲyu ᅳʼ ᅴi ᅵi ᆨk ᆫn ᆮt ᆯl ᆷm ᆸp ᆺs ᆼng ᆽt ᆾt ᇀt ᇁp",
  "აa ბb გg დd ეe ვv ზz თt იi კk ლl მm ნn ოo პp ჟj რr სs ტt უu ფf ქk ღg ყk შsh ჩch ცts ძdz წts ჭch ხkh ჯj ჰh",
  "աa բb գg դd եe զz էe ըe թt ժj իi լl խkh ծts կk հh ձdz ղgh ճch մm յy նn շsh ոo չch պp ջj ռr սs վv տt րr ցts ւu փp քk օo ֆf",
  "กg คk ขkh งng จj ชch ซs ดd ตt ทt ธt นn บb ปp พp ฟf ฝf มm ยy รr ลl วv สs ศs หh อo าa ิi ีi ุu ูu เe แe โo ไi ใi ั่ʼ",
];
/** What the keys of other keyboards stand for. */
const KEYS =
  "йq цw уe кr еt нy гu шi щo зp фa ыs вd аf пg рh оj лk дl яz чx сc мv иb тn ьm ㅂq ㅈw ㄷe ㄱr ㅅt ㅛy ㅕu ㅑi ㅐo ㅔp ㅁa ㄴs ㅇd ㄹf ㅎg ㅗh ㅓj ㅏk ㅣl ㅋz ㅌx ㅊc ㅍv ㅠb ㅜn ㅡm";

const tableOf = (pairs: string): ReadonlyMap<string, string> =>
  new Map(
    pairs.split(" ").map((pair) => {
      const [from = "", ...to] = pair;
      return [from, to.join("").replaceAll("ʼ", "")] as const;
    }),
  );

const LETTERS = tableOf(TABLES.join(" "));
const KEYBOARD = tableOf(KEYS);
const FOREIGN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Georgian}\p{Script=Armenian}\p{Script=Thai}]/u;
const SHORTEST = 8;

/** Lines of such letters, by their sound and by the keys that they stand on. */
export function* romanised(text: string): Iterable<string> {
  for (const line of text.split("\n")) {
    if (line.length < SHORTEST || !FOREIGN.test(line)) continue;
    const small = line.toLowerCase();
    const typed = mapped(small, KEYBOARD);
    if (typed !== small) yield typed;
    const said = mapped(small.normalize("NFD").replaceAll(/\u0306/g, ""), LETTERS);
    yield [...small.normalize("NFKC").replaceAll(/[\uac00-\ud7a3]/gu, (sign) => sign.normalize("NFD"))]
      .map((sign) => LETTERS.get(sign) ?? sign)
      .join("");
    yield said;
  }
}

const mapped = (text: string, table: ReadonlyMap<string, string>): string =>
  [...text].map((sign) => table.get(sign) ?? sign).join("");
