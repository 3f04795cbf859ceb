import { withoutMarks } from "./marks.ts";
import { once } from "./once.ts";
import { pattern } from "./pattern.ts";

/**
 * What `unbowed.ts` does, in other languages: names of what stands above, and the words by which a sentence bows to it. A name is
 * what was first or cannot be changed, beside a word for what binds, in either order. Stems, where words are set apart.
 */
interface Names {
  readonly first: string;
  readonly binding: string;
  /** Names of one word or a turn of their own. */
  readonly alone: string;
}

const NAMES: Readonly<Record<string, Names>> = {
  de: {
    first:
      "grund|ober(?:st|e)|hochst|unverander|unabander|fest|ursprunglich|anfang|ersten|eingangs|vorgegeben|sicherheits|plattform|hoher",
    binding:
      "regeln?|text|artikel|gesetz|gebot|verbot|schicht|ebene|grundsatz|grundsatz|schranke|vorschrift|pflicht|prinzip|kapitel|block|vorgabe|richtlinie|schutz|einschrank|grenze",
    alone:
      "verfassung(?! (?:des|der|von|eines) )|(?:grund|sicherheits|plattform|basis|kern|anfangs)(?:regel|gesetz|text|satz|prinzip|schicht|gebot|verbot)|grundsatz|systemprompt|charta|(?:oben|eingangs|am anfang) (?:\\S+ )?(?:genannt|gesetzt|stehend|festgelegt|gesagt)|(?:was|alles),? (?:was )?(?:\\S+ ){0,2}?(?:oben|am anfang|vor dieser (?:ebene|schicht|seite)) (?:steht|stand)|verbot (?:der|des|zu|von) (?:tausch|luge|weitergabe|betrug)",
  },
  fr: {
    first:
      "fondat|fondament|premi(?:ers|eres)|immuable|inalterable|superieur|supreme|initial|originel|origine|de base|de securite|de la plateforme|ci-dessus|d'en haut|fixe|intangible",
    binding:
      "article|regle|texte|couche|loi|interdi|principe|limite|consigne|chapitre|bloc|clause|devoir|garde-fou|instruction|restriction|obligation|engagement|charte|niveau",
    alone:
      "constitution(?! day)|la charte|(?:prompt|instructions) (?:du )?systeme|(?:fixe|pose|ecrit|imprime|impose|donne|dit|prevu)\\p{L}* (?:\\S+ )?(?:en tete|au debut|tout en haut|ci-dessus|au depart|a l'origine)|(?:en tete|debut|haut) du prompt|interdiction de (?:tromper|mentir|copier)|(?:ce|tout) (?:que|qui) (?:\\S+ ){1,4}?(?:au debut|au depart|en haut|plus haut|ci-dessus)",
  },
  es: {
    first:
      "fundador|fundamental|primer[oa]s|inmutable|inalterable|superior|suprem|inicial|original|basic|de seguridad|de la plataforma|anterior|fij[oa]|de arriba|central|de fabrica",
    binding:
      "articulo|regla|texto|capa|ley|prohibici|principio|limite|norma|capitulo|bloque|clausula|deber|salvaguard|instruccion|restriccion|obligacion|nivel",
    alone:
      "constitucion|la carta fundacional|prompt del sistema|(?:impuest|fijad|escrit|puest|dad|dich|impres)[oa]s? (?:\\S+ )?(?:al principio|al inicio|arriba|desde arriba|al comienzo)|(?:inicio|principio|cabecera) del prompt|prohibicion de (?:enganar|mentir|copiar)|lo que (?:\\S+ ){1,4}?(?:al principio|al inicio|arriba)|reglas basicas",
  },
  pt: {
    first:
      "fundador|fundament|primeir[oa]s|imutav|inalterav|superior|suprem|inicia|origina|basic|de seguranca|da plataforma|acima|fix[oa]|central|centrais|de fabrica",
    binding:
      "artigo|regra|texto|camada|lei\\b|leis\\b|proibic|principio|limite|norma|capitulo|bloco|clausula|dever|salvaguarda|instruc|restric|obrigac|nive",
    alone:
      "constituicao|prompt do sistema|(?:definid|impost|fixad|escrit|dit|dad|impress)[oa]s? (?:\\S+ )?(?:no inicio|no comeco|acima|la em cima|no topo|a partida)|(?:inicio|topo|comeco) do prompt|proibicao de (?:enganar|mentir|copiar)|o que (?:\\S+ ){1,5}?(?:no inicio|no comeco|no topo|acima)",
  },
  it: {
    first:
      "fondator|fondamental|prim[ie]\\b|immutabil|inalterabil|superior|suprem|inizial|original|di base|di sicurezza|della piattaforma|sopra|fiss[oaie]\\b|dall'alto",
    binding:
      "articol|regol|test[oi]\\b|strat[oi]|livell|legg|diviet|princip|limit|norm|capitol|blocc|clausol|dover|salvaguard|istruzion|restrizion|obblig",
    alone:
      "costituzione|prompt di sistema|(?:impost|fissat|scritt|post|dett|dat|stampat)[oaie] (?:\\S+ )?(?:all'inizio|dall'alto|in alto|in cima|in testa)|(?:inizio|testa|cima) del prompt|divieto di (?:ingannare|mentire|copiare)|(?:cio|quello) che (?:\\S+ ){1,4}?(?:all'inizio|in alto|in cima)",
  },
  nl: {
    first:
      "grond|oprichting|eerste|onveranderlij|hoger|hoogste|vaste|oorspronkelij|begin|veiligheids|platform|bovenste|opening",
    binding:
      "regel|tekst|artikel|wet\\b|wetten|verbod|laag|lagen|beginsel|principe|grens|grenzen|hoofdstuk|blok|plicht|voorschrift|instructie|beperking",
    alone:
      "grondwet|(?:grond|basis|veiligheids|platform|kern)(?:regel|tekst|wet|beginsel|laag)|systeemprompt|(?:regels|teksten|verboden|grenzen) (?:hierboven|bovenaan)|(?:bovenaan|begin van) de prompt|verbod op (?:misleid|liegen|bedrog|kopieren)|wat (?:\\S+ ){1,4}?(?:bovenaan|in het begin)",
  },
  pl: {
    first:
      "zalozyciel|fundament|pierwsz|niezmienn|nadrzedn|najwyzsz|wyzsz|poczatkow|pierwotn|podstaw|bezpieczenstw|platform|powyz|stał",
    binding:
      "artykuł|zasad|reguł|tekst|warstw|prawo|prawa|zakaz|limit|norm|rozdział|blok|obowiaz|zabezpiecze|instrukcj|ograniczen|przepis|poziom",
    alone:
      "konstytucj|prompt\\p{L}* systemow|poczatk\\p{L}* promptu|na poczatku promptu|zakaz\\p{L}* (?:oszukiwania|kłamania|kopiowania)|karta załozycielska|(?:to|wszystko), co (?:\\S+ ){0,4}?(?:na poczatku|na gorze|powyzej)",
  },
  ru: {
    first:
      "основополагающ|учредительн|перв\\p{L}{1,3}\\b|неизменн|неизменяем|высш|верхн|исходн|изначальн|базов|основн|безопасност|платформ|выше|фиксирован|незыблем|вышестоящ",
    binding:
      "стать[яиею]|статеи|правил|текст|сло[иеяю]|слоев|слоям|закон|запрет|принцип|предел|норм|глав|блок|обязанност|гаранти|инструкци|ограничен|положени|уровн",
    alone:
      "конституц|устав|системн\\p{L} (?:промпт|подсказк|инструкци)|начал\\p{L} (?:промпта|подсказки)|запрет\\p{L}* (?:на )?(?:обман|копир|лж)|то, что (?:\\S+ ){0,4}?(?:в начале|сверху|наверху)",
  },
  uk: {
    first: "засадничи|установч|перш|незмінн|вищ|верхн|початков|базов|основн|безпек|платформ|фіксован",
    binding: "статт|статей|правил|текст|шар|закон|заборон|принцип|меж|норм|розділ|блок|обов'яз|інструкц|обмежен|рівн",
    alone: "конституц|статут|системн\\p{L} (?:промпт|підказк|інструкці)|заборон\\p{L} (?:обман|брехн|копі)",
  },
  tr: {
    first: "kurucu|ilk|degismez|degistirilemez|ust\\b|yuksek|temel|sabit|basta|guvenlik|platform|yukarı",
    binding: "kural|metin|metn|madde|katman|yasa|yasak|ilke|sınır|bolum|blok|gorev|talimat|kısıtlama|guvence|hukum",
    alone: "anayasa|tuzuk|sistem (?:istem|talimat|komut)|istemin basında|aldatma yasag",
  },
  ar: {
    first:
      "الأساسي|الاساسي|التأسيسي|الأول|الاول|الثابت|العليا|الأعلى|الأصلي|السلامة|الأمان|المنصة|أعلاه|اعلاه|غير القابلة",
    binding:
      "قواعد|القواعد|قاعدة|القاعدة|نص|النص|مواد|المواد|مادة|المادة|طبق|الطبق|قانون|القانون|حظر|الحظر|مبادئ|المبادئ|حدود|الحدود|قيود|القيود|تعليمات|التعليمات|ضمانات|الضمانات|واجبات|محظورات|المحظورات",
    alone: "ما كتب (?:في البداية|أعلاه|في الأعلى)|دستور|الدستور|ميثاق|الميثاق|موجه النظام|حظر الخداع|بداية الموجه",
  },
  hi: {
    first: "मूल|संस्थापक|पहल|प्रथम|अपरिवर्तन|अटल|ऊपर|उच्च|शीर्ष|प्रारंभिक|सुरक्षा|प्लेटफ़ॉर्म|स्थायी|बुनियादी|आधारभूत",
    binding: "नियम|पाठ|अनुच्छेद|परत|कानून|क़ानून|निषेध|सिद्धांत|सीमा|अध्याय|खंड|कर्तव्य|निर्देश|प्रतिबंध|पाबंदी",
    alone: "संविधान|सिस्टम प्रॉम्प्ट|घोषणापत्र",
  },
  vi: {
    first:
      "goc|nen tang|dau tien|bat bien|co dinh|cao nhat|cap tren|ben tren|o tren|ban dau|co ban|cot loi|an toan|sang lap",
    binding:
      "nguyen tac|quy tac|dieu khoan|dieu luat|lop|luat|lenh cam|dieu cam|gioi han|chuong|khoi|van ban|quy dinh|chi dan|han che",
    alone: "hien phap|hien chuong|loi nhac he thong",
  },
  id: {
    first:
      "dasar|pendiri|pertama|tetap|abadi|di atas|teratas|tertinggi|awal|keamanan|platform|inti|utama|permanen|atas",
    binding:
      "aturan|teks|pasal|lapisan|hukum|larangan|prinsip|batas|norma|bab|blok|kewajiban|instruksi|pembatasan|ketentuan",
    alone: "konstitusi|piagam|prompt sistem|awal prompt",
  },
  sv: {
    first: "grund|forsta|oforanderlig|hogre|hogsta|overst|fast|ursprunglig|inledande|sakerhets|plattforms|ovan",
    binding:
      "regler|reglerna|regel|text|artik|lag\\b|lagar|lagen|forbud|lager|lagret|princip|grans|kapitel|block|plikt|skydd|instruktion|begransning",
    alone:
      "grundlag|konstitution|stadga|(?:grund|sakerhets|plattforms|bas)(?:regl|regel|text|princip|lag|artik)|systemprompt|(?:borjan|toppen) av prompten",
  },
};

/** Layers by their number. */
const NUMBERED =
  "(?:schicht|ebene|couche|capa|camada|strat[oi]|livell|laag|lagen|warstw|сло|шар|katman|(?:ال)?طبقة|طبقات|परत|lop|lapisan)\\p{L}* ?[0-5](?!\\d)|[0-5]\\.? ?katman";

/** Where words are not set apart. */
const JOINED: readonly string[] = [
  "宪法|憲法|章程|第?[0-5零一二三四五](?:到[0-5零一二三四五])?[层層]|(?:安全|最高|最初|不可(?:更)?改|不变|固定|上[层層]|顶层|创始|开头|基础|根本|原始|初始|平台|核心|基本|上述)的?(?:那些|几条)?(?:规则|規則|层|層|条款|條款|文本|原则|原則|禁令|法|限制|条文|准则|部分|指令|约束)|系统提示|禁止欺骗的",
  "憲法|憲章|レイヤー? ?[0-5]|安全レイヤー|(?:最初|冒頭|上位|不変|固定|根本|基本|最上位|創設|上記|起動時|安全|最高|プラットフォーム|核|初期)の?(?:に(?:与えられた|書かれた|定められた|示された))?(?:規則|原則|条文|条項|文章|文|層|ルール|禁止|法|制限|約束|指示|テキスト|戒め|制約)|システムプロンプト|上に書かれた",
  "헌법|헌장|[0-5] ?계층|레이어 ?[0-5]|시스템 ?프롬프트|(?:최초|처음|맨 ?위|상위|불변|고정|기본|근본|최상위|창립|핵심|플랫폼|안전|위의|초기|원래)(?:의|된|에|로)? ?(?:\\S+ )?(?:규칙|원칙|조항|조문|계층|층|텍스트|글|법|금지|제한|한도|지침|지시|약속|레이어)",
];

const UNSET = "(?<!\\p{L})";
const L = "\\p{L}*";
/** Words of either kind next to each other, or with one or two between them. */
const namesOf = ({ first, binding, alone }: Names): string =>
  `${UNSET}(?:${alone})${L}|${UNSET}(?:${first})${L} (?:\\S+ )?(?:${binding})${L}|${UNSET}(?:${binding})${L} (?:\\S+ ){0,2}?(?:${first})${L}`;

const above = once(() =>
  pattern(withoutMarks([...Object.values(NAMES).map(namesOf), `${UNSET}(?:${NUMBERED})`, ...JOINED].join("|"))),
);

const BOWS = once(() =>
  pattern(
    withoutMarks(
      "vorrang|immer (?:\\S+ )?(?:und|auch|$)|gelten immer|gilt immer|stets|toujours|gehen (?:immer )?vor|geht (?:immer )?vor|halte (?:dich|mich) an|houd (?:je|me) aan|attien|atente a|niemals|befolg|einhalt(?:e|en)?\\b(?<!nicht eingehalten)|bleib|prevaut|l'emporte sur (?:cette|ce|tout)|respect|jamais|prevalece|siempre|respet|nunca|prevale|rispett|sempre|altijd|nooit|zawsze|nigdy|przestrzega|her zaman|\\basla\\b|\\buyar(?:ım|ız)?\\b|всегда|никогда|соблюда|завжди|ніколи|дотриму|必须遵守|必須遵守|始终|不得|优先于本|以.{1,8}为准|常に|必ず|決して|守る|守り|従う|従い|항상|절대|준수|지킨|지켜|따른다|हमेशा|कभी नहीं|पालन|دائما|أبدا|تلتزم|ألتزم|luon|khong bao gio|tuan thu|selalu|jangan pernah|mematuhi|alltid|aldrig|foljer",
    ),
  ),
);

/** These take a bow back: kept no more. */
const NO_MORE = once(() =>
  pattern(
    withoutMarks(
      "nicht (?:mehr )?(?:\\S+ )?(?:einhalt|eingehalt|befolg|halte)|brauch|niet (?:meer )?(?:aan )?(?:te )?houden|hoef|plus (?:a )?(?:respecter|suivre)|no (?:\\S+ )?(?:respet|obliga)|nao (?:\\S+ )?(?:respeit|cumpr)|non (?:\\S+ )?(?:rispett|obblig)|守らなくて|従わなくて|従う必要は|지키지 않|따르지 않|不必|无需|không cần|khong can|tidak perlu|behover inte|nie musz|не обязан|не нужно",
    ),
  ),
);

/** Words of English, and of none of these languages: stems of theirs stand in English words, too. */
const ENGLISH =
  /\b(?:the|and|that|with|this|you|your|when|not|every|who|which|what|then|never|only|their|must|should|any|before|other|these|from)\b/u;

/** The words by which a sentence of another language names what stands above, where nothing in it bows. Expects folded text. */
export function unbowedInAnother(sentence: string): string | undefined {
  if (ENGLISH.test(sentence)) return undefined;
  const named = above().exec(sentence)?.[0];
  return named === undefined || (BOWS().test(sentence) && !NO_MORE().test(sentence)) ? undefined : named;
}
