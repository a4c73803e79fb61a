// Written by bindings/tools/generate-sentences.mjs. Do not edit. From Unicode's CLDR, copyright Unicode, Inc., whose
// license is in LICENSES.txt, and from the sentences in web/public/pairs.

/** Abbreviations of German, English and French, without the last dot, after which a sentence goes on. */
export const abbreviations = `
  a.rh aa abs abt abw acoust ad adj adr adv akt allg amtl anc ann anon ap app append approx apr as aug ausg ausschl
  aux av avr beil ben ber bibl broch bull ca cam capt categ chin chr co col coll collab comm config conn cont dat dc
  dec def dept desc dest dez di dict diff dim dipl.-ing dipl.-kfm doc dr dtzd déc e.wz ed ehem eigtl einh einschl
  encycl entspr erf erw etc ev evtl ex exec exempl exkl fa fam feb fig fn folg forts fr fri frl frz févr gb geb gebr
  gedr gek gem geograph ges gesch gest ggf ggfs gouv graph hbf hon.b.a hpts hptst hr hrn hrsg hz hôp id illustr imm
  imprim inc indus ing inh inkl int jahrh jan janv jew jhrl joe jr juil jun kap kath kb kfm kgl kl konv kop led lev
  lib lt lt.cdr ltd lun maj mar mart max mb md mgr mi min mio misc mm mo mod mr mrd mrs ms msp mt mtl möbl niv nov nr
  num näml obj oct od okt org p.adr pc pfd ph.d phys pin port pp pro prof prot proz publ pvt qu quart rd reg reg.-bez
  rel rep rev réf röm röm.-kath sa sam schles schr schweiz schwäb sek sep sept sgt sog spezif sq st std str symb synth
  syst südd tel temp trans trav tägl urspr ursprüngl v.chr var ven verf verh verw vgl voit vs wg yr z.hd zt ztr zzgl
  éd édit équiv éval österr
`;

/** Words that begin sentences, and that are written small inside of them. */
export const firstWords = `
  are as avez bist bitte can ce cela cette combien comment das der did die do don du elle elles er es est haben hast
  hat have he how ich ihr il ils is ist it je la lass le les let ma mein meine mon my ne niemand no nous on où
  personne please pourquoi puis qu que qui she si sie that the there they this tout tu un vous wann warum was we wer
  what when where who why wie wir wo you ça êtes
`;
