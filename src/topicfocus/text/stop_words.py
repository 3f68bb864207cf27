"""Function words of languages, and which words may begin and end a phrase.

Articles, pronouns, auxiliaries, prepositions and conjunctions cannot stand alone as a term and
neither begin nor end a phrase, but may be inside one. Negations and quantifiers are not function
words: they say something about a target. The lists were written for this package.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_ENGLISH = """
    a about above across after against along although am amid among amongst an and another are
    around as at be because been before behind being below beneath beside besides between beyond
    but by can concerning could despite did do does doing done down during each either else ere
    et etc for from had has have having he her here hers herself him himself his how however i if
    ie in indeed inside into is it its itself i'd i'll i'm i've let like lest may me might mine
    must my myself near of off on onto or other others otherwise ought our ours ourselves out
    outside over per perhaps regarding shall she should since so some somehow someone somewhat
    such than that the their theirs them themselves then thence there thereby therefore these they
    this those though through throughout thus till to together toward towards under underneath
    unless until unto up upon us via was we were what whatever when whenever where whereas whereby
    wherever whether which whichever while who whoever whole whom whose why will with within would
    yet you your yours yourself yourselves im ive ill id youre youve theyre weve thats its whats
    theres ok oh th eg vs also anyway get gets getting got gotten just very too quite rather
    really even still almost already only ever both same own am pm one
"""
#: Function words that may begin a phrase: too salty, very helpful.
_DEGREE = "almost even just only quite really so still too very"
#: Function words that may end a phrase: threw up, ripped off.
_PARTICLES = "down off out up"
#: Words that are no function words, but begin a phrase and never end it.
_NEGATIONS = """
    no not never nothing none nobody nowhere neither nor cannot without hardly barely scarcely
    cant dont didnt doesnt isnt wasnt arent werent wont wouldnt couldnt shouldnt havent hasnt hadnt
    aint
"""
#: The same, but they may end a phrase that begins with a negation: not enough, no more.
_QUANTIFIERS = """
    all any anyone anything enough every everyone everything few fewer less least lot lots many more
    most much several something
"""
#: Endings of contractions of a function word: it's, they'll.
_ENDINGS = frozenset({"s", "re", "ll", "ve", "d", "m"})
#: What is dropped before an apostrophe: l'homme, dell'arte.
_ELISIONS = {
    "french": "c d j jusqu l lorsqu m n puisqu qu quelqu s t",
    "italian": "all c coll d dall dell l m nell quell quest s sull t un",
}
_WORDS = {
    "dutch": """
        aan af al als andere bij ben bent beide daar daarom dan dat de der deze die dit doen door
        doet doch dus echter een eens elk elke en er erg ervan etc ge geweest had hadden hare heb
        hebben hebt heeft heel hem hen het hier hij hoe hun ik iets in is je jij jou jouw jullie
        kan konden kon kunnen kunt maar mag me meer mee men met mij mijn mocht moest moet moeten
        mogen na naar nog nou nu of om omdat onder ons onze ook op over reeds sommige te ten ter
        terwijl toch toe toen tot tussen uit uw van vanaf veel via volgens voor want waar waarom
        waren was wat we wel werd werden wie wij wil willen word worden wordt zal zich zij ze zelf
        zijn zo zoals zou zouden zulke zullen
    """,
    "french": """
        afin ai aie aient ainsi ait alors as au aucun aura aurait auront aussi autre autres aux
        avaient avais avait avant avec avez avons ayant car ce ceci cela celle celles celui
        cependant ces cet cette ceux chaque chez ci comme comment dans de depuis des donc dont du
        duquel elle elles en encore entre es est et etc eu eux fut furent ici il ils je jusque la
        laquelle le lequel les lesquelles lesquels leur leurs lors lorsque lui là ma mais me mes
        mien moi mon même mêmes ne nos notre nous on ont or ou où par parce pendant peut peuvent
        peux plus pour pourquoi puis puisque qu quand que quel quelle quelles quelque quelques
        quels qui quoi sa se selon sera serait seront ses si sien soi soient soit sommes son sont
        sous suis sur ta tandis te tel telle telles tels tes toi ton tous tout toute toutes tu un
        une vers voici voilà vos votre vous vu ça était étaient étais été étant être
    """,
    "german": """
        ab aber als also am an andere anderen anderer anderes auch auf aus bei beim bin bis bist
        da dabei dadurch daher damit danach dann daran darauf daraus darin darum darüber das dass
        dein deine deinem deinen deiner dem den denen denn der deren des deshalb dessen dich die
        dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer
        eines einige einigen einiger er es etwa etwas euch euer eure eurem euren eurer für gegen
        gewesen hab habe haben hat hatte hatten hattest hier hin hinter ich ihm ihn ihnen ihr ihre
        ihrem ihren ihrer ihres im in indem ins ist ja jede jedem jeden jeder jedes jedoch jene
        jenem jenen jener jetzt kann kannst können könnte könnten man manche manchem manchen
        mancher mein meine meinem meinen meiner mich mir mit muss musste müssen nach nachdem neben
        noch nun nur ob obwohl oder ohne seid sein seine seinem seinen seiner seines seit selbst
        sich sie sind so solche solchem solchen solcher soll sollen sollte sollten sondern sonst
        sowie um und uns unser unsere unserem unseren unserer unter vom von vor war waren warst
        warum was weil weiter welche welchem welchen welcher welches wenn wer werde werden wie
        wieder will wir wird wirst wo wobei wodurch wollen wollte worden wurde wurden während
        würde würden zu zum zur zwar zwischen über
    """,
    "italian": """
        ad agli ai al alla alle allo allora altra altre altri altro anche ancora avendo aveva
        avevano avevo avere avete abbia abbiamo abbiano avrebbe avrà che chi ci ciò coi col come
        con cosa così cui da dagli dai dal dalla dalle dallo degli dei del dell della delle dello
        dentro di dopo dove dunque durante ebbe ecco ed egli era erano ero essa esse essendo
        essere essi esso fa fanno fare fino fosse fossero fra fu furono già gli ha hai hanno ho il
        in io la le lei li lo loro lui ma me mentre mi mia mie miei mio ne negli nei nel nella
        nelle nello noi nostra nostre nostri nostro ogni oppure ora per perché perciò però più poi
        poiché può qua quale quali qualche quando quanta quante quanti quanto quella quelle quelli
        quello questa queste questi questo qui quindi sarebbe sarà se sei si sia siamo siano siete
        sono sta stata state stati stato stava su sua sue sugli sui sul sulla sulle sullo suo suoi
        tra tu tua tue tuo tuoi tutta tutte tutti tutto un una uno vi voi vostra vostre vostri
        vostro
    """,
    "portuguese": """
        ainda algo algum alguma algumas alguns ante antes ao aos apesar após aquela aquelas aquele
        aqueles aquilo as assim até cada com como contra cuja cujas cujo cujos da das de dela
        delas dele deles depois desde dessa dessas desse desses desta destas deste destes do dos
        durante ela elas ele eles em então entre enquanto era eram essa essas esse esses esta
        estamos estar estas estava estavam este estes esteve estive estou está estão eu foi fomos
        for foram fosse fossem fui há havia hei houve isso isto já la lhe lhes lo mais mas me
        mediante mesma mesmas mesmo mesmos meu meus minha minhas muito na nas nela nele nessa
        nesse nesta neste no nos nossa nossas nosso nossos num numa nós ora os ou onde outra
        outras outro outros para pela pelas pelo pelos perante pode podem pois por porque porém
        portanto qual quais qualquer quando quanto que quem se seja sejam sem sendo ser será seria
        seu seus sob sobre somos sou sua suas são tal tais também tanto te tem temos tendo tenha
        tenho ter teu teus teve tinha tinham tive toda todas todo todos tu tua tuas tudo têm um
        uma umas uns você vocês vos vossa vosso às à é éramos
    """,
    "spanish": """
        al algo alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos
        aquí así aun aunque aún cada como con contra cual cuales cualquier cuando cuanto cuya cuyo
        cómo cuál cuándo de del desde donde durante dónde el ella ellas ello ellos en entonces
        entre era eran eras es esa esas ese eso esos esta estaba estaban estado estamos estar
        estas este esto estos estoy estuve estuvo está están ésta éstas éste éstos fue fueron fui
        ha haber había habían hacia han has hasta hay haya he hemos hube hubo la las le les lo los
        luego más mas me mediante mi mientras mis misma mismas mismo mismos mía mío muy mí nos
        nosotras nosotros nuestra nuestras nuestro nuestros os otra otras otro otros para pero por
        porque pues puede pueden que quien quienes qué quién se sea sean según ser será sería si
        sido siendo sino so sobre sois somos son soy su sus suya suyo sí tal tales también tan
        tanto te tenemos tener tengo tenido tenía ti tiene tienen toda todas todavía todo todos
        tras tu tus tuvo tú un una unas uno unos usted ustedes vosotros vuestra vuestro ya yo él
        éramos
    """,
}
#: Languages by name.
LANGUAGES = ("english", *_WORDS)


def words_of(language: str) -> tuple[str, ...]:
    """The function words of one of the languages."""
    text = _ENGLISH if language == "english" else _WORDS[language]
    return tuple(sorted(set(text.split())))


def elisions_of(language: object) -> tuple[str, ...]:
    """Short words that are dropped before an apostrophe."""
    return tuple(_ELISIONS.get(language, "").split()) if isinstance(language, str) else ()


@dataclass(frozen=True)
class WordRoles:
    """Whether a word can be a term by itself, and begin and end a phrase."""

    function: frozenset[str]
    min_length: int = 1

    def is_function(self, word: str) -> bool:
        """Whether a word, or the first part of its contraction, is in the list."""
        if word in self.function:
            return True
        stem, apostrophe, ending = word.partition("'")
        return bool(apostrophe) and ending in _ENDINGS and stem in self.function

    def alone(self, word: str) -> bool:
        """Whether it can be a term by itself."""
        return len(word) >= self.min_length and not self.is_function(word)

    def edges(self, word: str) -> bool:
        """Whether an n-gram may begin or end with it."""
        return not self.is_function(word)

    def begins(self, word: str) -> bool:
        """Whether a phrase may begin with it."""
        return word in _MAY_BEGIN or not self.is_function(word)

    def ends(self, word: str) -> bool:
        """Whether a phrase may end with it."""
        if is_negation(word) or word in _QUANTIFYING:
            return False
        return word in _MAY_END or not self.is_function(word)


_MAY_BEGIN, _MAY_END = frozenset(_DEGREE.split()), frozenset(_PARTICLES.split())
_NEGATING, _QUANTIFYING = frozenset(_NEGATIONS.split()), frozenset(_QUANTIFIERS.split())


def is_negation(word: str) -> bool:
    """Whether an English word negates what follows it."""
    return word in _NEGATING or word.endswith("n't")


def is_quantifier(word: str) -> bool:
    """Whether an English word is a quantifier; a phrase with a negation may end with it."""
    return word in _QUANTIFYING


def roles(function_words: Iterable[str], min_length: int) -> WordRoles:
    """The roles of words, given the function words."""
    return WordRoles(frozenset(function_words), min_length)
