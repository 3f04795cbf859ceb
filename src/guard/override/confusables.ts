/** Letters of other scripts that look like Latin ones. A choice for words of attack in Latin letters, after NFKC: not Unicode's whole table. */
const PAIRS = [
  "аa вb еe кk мm нh оo рp сc тt уy хx ѕs іi јj ԁd ԛq ԝw һh ӏl ґr ɡg ցg",
  "АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ЅS ІI ЈJ ԌG ԚQ ԜW Ӏl",
  "αa βb γy δd εe ηn ιi κk νv οo ρp τt υu χx ωw ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX",
  "ıi ɩi ǀl ℓl øo ɑa ɐa ɔc ǝe ɛe ʟl ʀr ɪi ɴn ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ᴊj ᴋk ᴍm ᴏo ᴘp ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz",
  "օo սu ոn հh ѵv ꓮa ꓐb ꓚc ꓓd ꓰe ꓖg ꓲi ꓡl ꓟm ꓠn ꓳo ꓑp ꓣr ꓢs ꓔt ꓴu",
  "əe ℮e ⅼl ѡw гr пn иu ſf ƃg ɟf ɥh ᴉi ɾj ʞk ɯm ɹr ʇt ʌv ʍw ʎy Ьb ᏀG ᎪA ᏴB ᏟC ᎠD ᎬE ᎻH ᏆI ᏦK ᏞL ᎷM ᏢP ᎡR ᏚS ᎢT ᏙV ᎳW ᎩY ᏃZ ᏒR ᏌU ᎾO ᏎS",
  "ꭺa ꮟb ꮯc ꭰd ꭼe ꮋh ꮖi ꮶk ꮮl ꮇm ꮲp ꮢr ꮪs ꭲt ꮩv ꮃw ꭹy ꮓz ꭱr ꮛe",
  "ᗩa ᗪd ᑭp ᗷb ᐯv ᑌu ᑎn ᒪl ᖇr ᑕc ᗰm ᗯw ᕼh ᖴf ᒍj ᘜg ᕮe ᗴe ᖽk ᔕs ᑫq ᗅa ᐱa ᑲb",
  "ƀb đd ƒf ǥg ƙk ƥp ɍr ʋu ɯm ƴy ƶz ɪi ɔo ʊu ŋn ɠg ɾr ɭl ʂs ʈt ɛe ɑa ɒa ɓb ɕc ɖd ɗd ɘe ɦh ɨi ɬl ɱm ɲn ɳn ɵo ɸf ɽr ʃs ʄj ʉu ʐz ʑz ħh ŧt łl ßb þp ðd æa œo",
  "πp φf λl σs ςs μm ζz θo ξe ψy ϳj ϙq βb ΓG ΔA ΛA ΣE ΠN ΩO ΦO ΨY Ƀb Đd Ħh Łl Øo Ŧt ƭt ƞn ȼc ɇe ɉj ȿs ɏy ⱥa ⱦt",
  "卂a 乃b 匚c 刀d 乇e 下f 厶g 卄h 工i 丁j 长k 乚l 爪m 冂n 口o 尸p 尺r 丂s 丅t 凵u リy 山w 乂x 丫y 乙z ムa んh ノi フj ズk レl カm のo アp イt メx",
  "ልa ጌb ርc ዕd ቿe ቻf ኗg ዘh ጎi ጋj ጕk ረl ጠm ክn ዐo የp ዒq ዪr ነs ፕt ሁu ሀv ሠw ሸx ሃy ጊz คa ςc єe ђh เi ןj ɭl ภn ๏o קp гr รs ยu שv ฬw אx ץy ๒b ๔d ợq ﻮg",
  "ⲁa ⲃb ⲥc ⲇd ⲉe ϥf ⳋg ϩh ⲓi ϫj ⲕk ⳑl ⲙm ⲛn ⲟo ⲣp ϭq ꞅr ⲋs ⲧt ⲩu ⲅv ⲱw ⲭx ⲍz ხb ძd ჩh იi კk ოo ყy ცb გr იi ჯx ٥o ١i ٧v ٨n",
  "ꓝf ꓧh ꓙj ꓗk ꓦv ꓪw ꓫx ꓬy ꓜz ꮑn ꮎo ꭴo ꮆg ꭻj ꭾf ꮜu",
].join(" ");

export const CONFUSABLE: ReadonlyMap<string, string> = new Map(
  PAIRS.split(" ").map((pair) => {
    const [from = "", to = ""] = pair;
    return [from, to] as const;
  }),
);
