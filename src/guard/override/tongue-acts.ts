import { once } from "./once.ts";
import { pattern } from "./pattern.ts";
import { withoutMarks } from "./readings.ts";

/** In one language: what holds an agent and how it is said to be needless, and whose word is made the operator's. Stems. */
interface Acts {
  /** Approval, limits, checks. */
  readonly hold: string;
  /** `is not needed`, `does not apply`, `skip`. */
  readonly needless: string;
  /** Those whose words are data. */
  readonly lower: string;
  readonly higher: string;
  /** `treat as`, `obey`, `is`. */
  readonly made: string;
  /** `do not tell`, `hide from`: beside the operator. */
  readonly hidden: string;
}

const ACTS: Readonly<Record<string, Acts>> = {
  de: {
    hold: "genehmigung|freigabe|zustimmung|ausgabengrenz|ausgabenlimit|limit|obergrenz|sicherheitspruf|risikopruf|bestatigung",
    needless:
      "(?:ist|sind|ware) (?:\\S+ ){0,4}?(?:nicht (?:mehr )?(?:notig|notwendig|erforderlich)|unnotig|uberflussig|aufgehoben|entfallen)|keine? (?:\\S+ ){1,4}?(?:notig|notwendig|erforderlich)|entfallt|entfallen|brauchst du (?:\\S+ ){0,3}?(?:nicht|keine)|uberspring|lass .{0,30}\\bweg\\b|hebe? .{0,40}\\bauf\\b|gilt (?:\\S+ )?nicht",
    lower: "absender|kunde|kontakt|nachricht|besucher|wer (?:schreibt|zahlt|fragt)",
    higher: "betreiber|inhaber|besitzer|eigentumer|administrator|plattform",
    made: "(?:behandle|betrachte|sieh) .{0,40}\\b(?:wie|als)\\b|gehorche|gilt als|gelten als|ist dein|sind dein|zahlt als|zahlen wie",
    hidden: "verschweig|verheimlich|verbirg|(?:sag|erzahl|melde?|informier)\\S* .{0,30}\\bnicht",
  },
  fr: {
    hold: "approbation|autorisation|accord|validation|plafond|limite|verification|controle",
    needless:
      "n'(?:est|etait) (?:plus|pas) (?:necessaire|requis|obligatoire)|n'est pas besoin|pas besoin|inutile|superflu|n'a plus|saute|ignore|leve\\b|(?:est|sont) (?:leve|supprime|suspendu)",
    lower: "expediteur|client|contact|message|visiteur|celui qui",
    higher: "operateur|proprietaire|administrateur|plateforme",
    made: "(?:traite|considere)\\S* .{0,40}\\bcomme\\b|obeis|vaut|compte comme|est (?:ton|votre) |devien",
    hidden: "cache|ne dis (?:rien|pas)|n'informe|ne signale|dissimul|ne (?:le |la )?mentionne",
  },
  es: {
    hold: "aprobacion|autorizacion|permiso|limite|tope|verificacion|confirmacion|control",
    needless:
      "no (?:es|son|hace|hacen) (?:mas )?(?:necesari|falta|obligatori)|no se (?:necesita|requiere|exige)|ya no (?:es|se|hace)|sobra|innecesari|omite|salta|ignora|levantad|suspendid|eliminad",
    lower: "remitente|cliente|contacto|mensaje|visitante|quien",
    higher: "operador|propietario|dueno|administrador|plataforma",
    made: "(?:trata|considera)\\S* .{0,40}\\bcomo\\b|obedece|cuenta como|es tu|sera tu",
    hidden: "oculta|no (?:le )?(?:digas|informes|menciones|reportes|avises)|esconde",
  },
  pt: {
    hold: "aprovacao|autorizacao|permissao|limite|teto|verificacao|confirmacao",
    needless:
      "nao (?:e|sao) (?:mais )?(?:necessari|preciso|obrigatori)|nao (?:precisa|requer|exige)|ja nao|dispensad|desnecessari|pule|ignore|suspens|removid",
    lower: "remetente|cliente|contato|contacto|mensagem|visitante|quem",
    higher: "operador|proprietario|dono|administrador|plataforma",
    made: "(?:trate|considere)\\S* .{0,40}\\bcomo\\b|obedeca|vale como|conta como|e o seu|e seu",
    hidden: "oculte|esconda|nao (?:diga|informe|mencione|conte|avise|relate)",
  },
  it: {
    hold: "approvazione|autorizzazione|permesso|limite|limiti|tetto|verifica|conferma|controllo",
    needless:
      "non (?:serve|servono|occorre|occorrono|e necessari|sono necessari|e piu|e richiest|c'e bisogno)|superflu|inutil|salta|ignora|sospes|rimoss|revocat",
    lower: "mittente|cliente|contatto|messaggio|visitatore|chi (?:paga|scrive)",
    higher: "operatore|proprietario|amministratore|piattaforma",
    made: "(?:tratta|considera)\\S* .{0,40}\\bcome\\b|obbedisci|vale come|conta come|e il tuo",
    hidden: "nascondi|non (?:dire|informare|menzionare|segnalare|avvisare)",
  },
  nl: {
    hold: "goedkeuring|toestemming|limiet|bestedingslimiet|plafond|uitgavenplafond|bevestiging",
    needless:
      "niet (?:meer )?(?:nodig|vereist|verplicht)|geen (?:\\S+ ){1,4}?(?:nodig|vereist)|overbodig|vervalt|vervallen|sla .{0,30}\\bover\\b|opgeheven",
    lower: "afzender|klant|contact|bericht|bezoeker|wie (?:betaalt|schrijft)",
    higher: "beheerder|eigenaar|exploitant|platform",
    made: "(?:behandel|beschouw) .{0,40}\\bals\\b|gehoorzaam|geldt als|telt als|is je ",
    hidden: "verberg|verzwijg|(?:vertel|meld|informeer) .{0,30}\\bniet",
  },
  pl: {
    hold: "zgod|zatwierdzen|limit|kontrol|potwierdzen|akceptacj",
    needless: "nie (?:jest|sa) (?:juz )?(?:potrzebn|wymagan|konieczn)|nie trzeba|zbedn|pomin|zniesion",
    lower: "nadawc|klient|kontakt|wiadomos|kto",
    higher: "operator|wlascicie|administrator|platform",
    made: "(?:traktuj|uznawaj|uwazaj) .{0,40}\\b(?:jak|za)\\b|sluchaj|jest twoim",
    hidden: "ukryj|ukrywaj|nie (?:mow|informuj|wspominaj|zglaszaj)",
  },
  ru: {
    hold: "одобрени|разрешени|согласи|подтверждени|лимит|ограничени|проверк",
    needless: "не (?:нужн|требу|обязательн)|больше не|пропус(?:ти|каи)|снят|отменен|излишн|сними",
    lower: "отправител|клиент|контакт|сообщени|посетител|кто (?:платит|пишет)",
    higher: "оператор|владел|администратор|платформ|хозяин",
    made: "считаи|рассматриваи|относись|слушаися|подчиняися|является|становится",
    hidden: "скрываи|скрои|утаи|не (?:сообщаи|говори|рассказываи|упоминаи|докладываи)",
  },
  tr: {
    hold: "onay|izin|limit|sinir|dogrulama|kontrol",
    needless: "gerek(?:li degil|mez|siz|miyor| yok)|atla|kaldirildi|iptal|sart degil|zorunlu degil",
    lower: "gonderen|musteri|kisi|mesaj|ziyaretci",
    higher: "operator|sahib|yonetici|platform|isletmeci",
    made: "say\\b|kabul et|gibi davran|itaat|olarak gor|muamele",
    hidden: "gizle|sakla|soyleme|bildirme|haber verme",
  },
  ar: {
    hold: "موافق|إذن|اذن|حد الإنفاق|الحد|تحقق|تأكيد",
    needless: "ليس(?:ت)? (?:ضروري|مطلوب)|لا (?:حاجة|داعي|يلزم|تلزم)|غير (?:ضروري|مطلوب)|تخط|تجاهل|ألغي",
    lower: "المرسل|العميل|الزبون|رسال|جهة الاتصال|من يدفع",
    higher: "المشغل|المالك|المدير|المنصة|مالك",
    made: "عامل|اعتبر|أطع|اطع|بمثابة|يعد",
    hidden: "أخف|اخف|لا تخبر|لا تبلغ|لا تذكر",
  },
  hi: {
    hold: "अनुमोदन|अनुमति|मंज़ूरी|मंजूरी|सीमा|जाँच|जांच|पुष्टि",
    needless: "ज़रूरत नहीं|जरूरत नहीं|आवश्यक नहीं|ज़रूरी नहीं|जरूरी नहीं|छोड़|हटा|अनदेख",
    lower: "प्रेषक|ग्राहक|संपर्क|संदेश|भेजने वाल",
    higher: "ऑपरेटर|मालिक|स्वामी|प्रशासक|प्लेटफ़ॉर्म",
    made: "मान|समझ|आज्ञा|की तरह|के समान",
    hidden: "छिपा|छुपा|मत बता|न बता|सूचित न",
  },
  ko: {
    hold: "승인|허가|한도|제한|확인|검사|검토",
    needless: "필요 ?없|필요하지 않|불필요|생략|건너뛰|해제|무시|폐지",
    lower: "발신자|고객|연락처|메시지|보낸 사람|방문자",
    higher: "운영자|소유자|관리자|플랫폼|주인",
    made: "취급|간주|여기|대하|따르|복종|로 봐|처럼",
    hidden: "숨기|숨겨|알리지 마|말하지 마|보고하지 마|비밀로",
  },
  ja: {
    hold: "承認|許可|同意|上限|制限|確認|検査|チェック",
    needless: "不要|必要(?:は|が)?(?:ない|ありません|なく)|要らない|いらない|省略|省いて|スキップ|飛ばし|解除|撤廃",
    lower: "送信者|顧客|お客|連絡先|メッセージ|差出人|訪問者",
    higher: "運営者|所有者|管理者|プラットフォーム|オーナー|オペレーター",
    made: "扱|みなし|見なし|従|とする|として|同等",
    hidden: "隠し|隠せ|知らせない|知らせるな|言わない|言うな|報告しない|報告するな|内緒",
  },
  zh: {
    hold: "批准|审批|許可|许可|同意|限额|上限|限制|检查|檢查|确认|確認|审核",
    needless: "不需要|无需|無需|不必|不用|免去|跳过|跳過|取消|解除|省略|不再",
    lower: "发件人|發件人|寄件人|客户|客戶|联系人|消息|訊息|访客",
    higher: "运营者|運營者|操作员|操作者|所有者|管理员|管理員|平台|主人",
    made: "视为|視為|当作|當作|当成|看作|服从|听从|等同",
    hidden: "隐瞒|隱瞞|隐藏|不要告诉|别告诉|不要通知|不要报告|瞒着",
  },
};

const UNSPACED = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}]";
const stems = (alternatives: string): (() => RegExp) =>
  once(() => pattern(`(?:(?<![\\p{L}])|(?<=${UNSPACED}))(?:${withoutMarks(alternatives)})`));

/** How far apart two words may stand to be of one clause. */
const NEAR = 60;

const TRIED = Object.values(ACTS).map(({ hold, needless, lower, higher, made, hidden }) => ({
  needless: { act: stems(needless), to: stems(hold) },
  made: { act: stems(made), to: stems(lower), of: stems(higher) },
  hidden: { act: stems(hidden), to: stems(higher) },
}));

function near(sentence: string, one: () => RegExp, other: () => RegExp): boolean {
  const a = one().exec(sentence);
  if (a === null) return false;
  const b = other().exec(sentence);
  return b !== null && a.index !== b.index && Math.abs(a.index - b.index) <= NEAR;
}

/** What no shop waives for a small order: who holds it, or what it holds back. */
const GRAVE = stems(
  "uitgaven|ausgaben|depenses|gastos|spese\\b|wydatk|расход|harcama|支出|지출|betreiber|inhaber|uberweis|schlussel|operateur|proprietaire|virement|cles?\\b|operador|dueno|propietario|transferenc|clave|operatore|proprietario|bonific|chiav|chave|beheerder|eigenaar|overboek|sleutel|operator|wlascicie|przelew|klucz|оператор|владел|перевод|ключ|sahib|anahtar|المشغل|المالك|مفتاح|ऑपरेटर|मालिक|कुंजी|운영자|소유자|송금|열쇠|運営者|所有者|送金|鍵|运营者|操作员|所有者|转账|密钥",
);

/** An own edit that is its own approval: changes and proposals, and that nobody else is asked. */
const EDITS = stems(
  "vorschl|anderung|propositions?\\b|modification|propuesta|cambios?\\b|proposta|propostas|alterac|proposte|modifich|voorstel|wijziging|propozycj|zmian|предложени|изменени|правк|пропозиц|змін|oneri|degisiklik|اقتراح|مقترح|تعديل|प्रस्ताव|बदलाव|提案|变更|変更|修改|改动|제안|변경|수정|de xuat|thay doi|usulan|perubahan|forslag|andring",
);
const UNASKED = stems(
  "(?:ohne|sans|sin|sem|senza|zonder|bez|без|utan|tanpa) (?:\\S+ ){0,3}?(?:l'|d'|all'|dell')?(?:genehm|zustimm|freigab|ruckfrag|betreib|pruf|l'accord|accord|approb|approv|autoris|autoriz|operat|opérat|aprob|aprov|permis|consen|conform|goedkeur|toestem|beheerd|zgod|zatwierdz|одобрен|согласи|разрешен|оператор|схвален|згод|godkann|persetujuan|izin)|selbst\\b|automatisch|sofort wirksam|moi-meme|d'office|automatiquement|yo mismo|automaticamente|eu mesmo|da sol[oe]|si intend|zelf\\b|sam\\b|sama\\b|automatyczn|сам\\b|сама\\b|автоматич|onaysiz|onay\\S* olmadan|kendim|otomatik|(?:بدون|دون) (?:موافق|إذن|المشغل)|تلقائ|بنفسي|बिना \\S+ (?:की |के )?(?:मंज़ूरी|मंजूरी|अनुमति|स्वीकृति)|स्वयं|स्वतः|(?:승인|허가|동의) 없이|스스로|자동|(?:承認|許可|同意)なし|自分で|自動|直ちに|(?:无需|無需|不经)(?:批准|审批|同意|许可)|自动|自行|(?:khong can|tu dong)|otomatis|sendiri|sjalv|automatiskt",
);
/** Silence that shall be a word, and the word that it shall be. */
const SILENCE = stems(
  "schweigen|keine antwort|silence|silencio|silenci\\S*|silenzio|stilzwijgen|zwijgen|milczeni|молчани|мовчанн|sessizli|سكوت|صمت|चुप्पी|मौन|沈黙|沉默|침묵|su im lang|im lang|diamnya|tystnad",
);
const CONSENT = stems(
  "zustimm|genehm|einverst|ja\\b|accord|approb|consent|oui\\b|aprob|si\\b|asentim|aprov|sim\\b|consens|assens|si'|toestem|instem|goedkeur|zgod|согласи|одобрен|згод|схвален|onay|kabul|موافق|قبول|सहमति|मंज़ूरी|स्वीकृति|同意|承認|批准|许可|동의|승인|dong y|chap thuan|setuju|ja\\b|samtyck|godkann",
);
/** A sum in pieces that each stay below the limit. */
const SUM = stems(
  "uberweis|zahlung|betrag|limit|grenze|virement|paiement|plafond|seuil|pago|transferencia|tope|umbral|limite|pagament|bonific|soglia|tetto|transferenc|teto|overboek|betaling|limiet|przelew|płatnos|limit|перевод|платеж|лимит|переказ|ліміт|havale|odeme|transfer|limit|تحويل|حد|भुगतान|सीमा|转账|转帐|付款|上限|限额|送金|支払|송금|한도|chuyen khoan|han muc|pembayaran|batas|betalning|grans",
);
const SPLIT = stems(
  "teile? |aufteil|zerleg|stuckel|aufgeteilt|decoup|coupe|fraction|divise|divid|fraccion|parto|dividi|divido|frazion|spezz|splits|opsplits|opdel|dziel|rozbij|дроб|разбива|дели|делю|поділ|дроби|bol(?:er|ün|un)|bolerek|parcala|تقسيم|يقسم|أقسم|बाँट|बांट|टुकड़|拆成|拆分|分拆|分成|小分け|分割|나누|쪼개|분할|chia nho|tach|pecah|dibagi|memecah|dela upp|delas upp|delar",
);
/** A step that the record shall not hold. */
const LOG = stems(
  "protokoll|logbuch|aufzeichnung|journal|registre|registro|bitacora|diario|logboek|dziennik|rejestr|журнал|лог\\b|протокол|kayıt|kayit|gunlu|سجل|लॉग|अभिलेख|रिकॉर्ड|日志|记录|記録|ログ|기록|로그|nhat ky|catatan|logg",
);
const STEP = stems(
  "schritt|etape|pasos?\\b|passos?\\b|passagg|stap|krok|шаг|крок|adım|adim|خطو|कदम|步骤|手順|ステップ|단계|buoc|langkah|steg|heikl|unangenehm|genant|incomod|delicat|scomod|gevoelig|niewygodn|неудобн|незручн",
);
const OMIT = stems(
  "weglass|lasse .{0,40}\\bweg|auslass|nicht|n'ont pas|ne .{0,20}pas|omet|no se|no |nao |omit|non |niet|weg|pomij|nie |не |без|yazma|yazıl?ma|يحذف|لا |نحذف|न |नहीं|छोड़|不|略|ない|省|않|빼|khong|bo qua|tidak|inte|utelamna",
);
/** A sender who lifts a rule. */
const SENDER = stems(
  "kunde|absender|kontakt|client|expediteur|cliente|remitente|remetente|mittente|klant|afzender|klient|nadawc|клиент|отправител|клієнт|відправник|musteri|gonderen|عميل|زبون|مرسل|ग्राहक|प्रेषक|客户|发件人|顧客|送信者|고객|발신자|khach hang|nguoi gui|pelanggan|pengirim|kund|avsandar",
);
const RELEASES = stems(
  "entbind|befrei|aufheb|libere|delie|dispense|exim|libera|dispensa|esenta|ontslaa|ontheff|zwolni|zwalnia|освобо|снять|звільн|muaf|يعفي|मुक्त|免除|解除|면제|解放|mien tru|bebaskan|membebaskan|befria",
);
const RULE = stems(
  "regel|verbot|pflicht|grenze|regle|interdi|limite|devoir|regla|prohibi|regra|proibi|regol|diviet|limit|verbod|zasad|zakaz|правил|запрет|заборон|kural|yasak|قاعد|قيد|حظر|नियम|规则|禁令|限制|規則|制限|規定|규칙|금지|quy tac|quy dinh|aturan|larangan|regl|forbud",
);
/** What was told by others in confidence. */
const OTHERS = stems(
  "ander[en]|les autres|d'autres|otros|otras|outros|outras|altri|altre|inn[iy]|других|другого|інш|baska|diger|آخر|الآخر|दूसर|अन्य|다른|他の|ほかの|别的|其他|別人|别人|khac|lain|andra",
);
const CONFIDED = stems(
  "vertraulich|anvertraut|im vertrauen|confidenc|confiden|confianca|riservat|in confidenza|vertrouwelijk|toevertrouw|poufn|zaufani|конфиденциал|доверит|по секрету|конфіденц|gizli|سري|بسر|गोपनीय|비밀|기밀|内緒|秘密|打ち明け|机密|保密|私下|bi mat|rieng tu|rahasia|fortro",
);
const PAIRS = [
  [EDITS, UNASKED],
  [OTHERS, CONFIDED],
  [SILENCE, CONSENT],
  [SPLIT, SUM],
] as const;

/** Said to be forbidden, or to be kept. */
const KEPT = stems(
  "nie\\b|niemals|nicht\\b|kein|jamais|ne \\S+ pas|nunca|no |nao |mai |non |nooit|niet\\b|geen|nigdy|nie |никогда|не |ніколи|asla|[a-z]+m[ae]z\\b|لا |أبدا|नहीं|कभी|않|금지|ない|ません|決して|不|禁止|切勿|khong bao gio|tidak|jangan|inte|aldrig",
);

/** What a sentence of another language does: a hold made needless, a sender made the operator, the operator kept in the dark, an edit that asks nobody, a secret told on. */
export function foreignAct(sentence: string): boolean {
  const read = withoutMarks(sentence);
  return (
    TRIED.some(
      ({ needless, made, hidden }) =>
        (near(read, needless.act, needless.to) && GRAVE().test(read)) ||
        (near(read, made.act, made.to) && near(read, made.to, made.of)) ||
        near(read, hidden.act, hidden.to),
    ) ||
    (!KEPT().test(read) && PAIRS.some(([one, other]) => near(read, one, other))) ||
    (near(read, STEP, LOG) && near(read, OMIT, LOG)) ||
    (near(read, SENDER, RELEASES) && near(read, RELEASES, RULE))
  );
}
