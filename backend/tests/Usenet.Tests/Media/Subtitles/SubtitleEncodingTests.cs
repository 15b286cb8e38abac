using System.Text;
using Sluice.Usenet.Media.Subtitles;
using Xunit;

namespace Sluice.Usenet.Tests.Media.Subtitles;

/// <summary>Decodes bytes of subtitle files into text, and parses their names.</summary>
public sealed class SubtitleEncodingTests
{
    private const string Polish = "Gdzie są światła? Zgasły. Proszę, wróć łodzią, żeby je zapalić.";
    private const string Russian = "Где огни гавани? Они погасли. Вернись на лодке и зажги их снова.";
    private const string Greek = "Πού είναι τα φώτα του λιμανιού; Έσβησαν. Γύρισε με τη βάρκα και άναψέ τα.";
    private const string French = "Où sont les lumières du port ? Éteintes. Reviens à la voile, s'il te plaît.";
    private const string Turkish = "Limanın ışıkları nerede? Söndü. Lütfen kayıkla geri dön, şimdi yak.";
    private const string Hebrew = "איפה אורות הנמל? הם כבו.";

    [Theory]
    [InlineData("utf-8")]
    [InlineData("utf-16")]
    [InlineData("utf-16BE")]
    public void Byte_order_mark_determines_the_encoding(string name)
    {
        var encoding = Encoding.GetEncoding(name);

        Assert.Equal(Polish + Russian, SubtitleEncoding.Decode([.. encoding.GetPreamble(), .. encoding.GetBytes(Polish + Russian)], "fr"));
    }

    [Theory]
    [InlineData(1250, Polish)]
    [InlineData(1251, Russian)]
    [InlineData(1252, French)]
    [InlineData(1253, Greek)]
    public void Code_page_is_guessed_from_its_letters(int page, string text) => Assert.Equal(text, SubtitleEncoding.Decode(Bytes(page, text), null));

    [Theory]
    [InlineData(1250, "pl", Polish)]
    [InlineData(1251, "ru", Russian)]
    [InlineData(1252, "fr", French)]
    [InlineData(1253, "el", Greek)]
    [InlineData(1254, "tr", Turkish)]
    [InlineData(1255, "he", Hebrew)]
    public void Language_determines_the_code_page(int page, string language, string text) =>
        Assert.Equal(text, SubtitleEncoding.Decode(Bytes(page, text), language));

    [Fact]
    public void Damaged_utf8_stays_utf8()
    {
        var bytes = Encoding.UTF8.GetBytes(Polish);
        bytes[Array.IndexOf(bytes, (byte)0xC5)] = 0xFF;

        Assert.EndsWith("wróć łodzią, żeby je zapalić.", SubtitleEncoding.Decode(bytes, "pl"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Harbour.Lights.2019.en.srt", "Harbour.Lights.2019.mkv", "en", false, false)]
    [InlineData("Harbour.Lights.2019.eng.forced.srt", "Harbour.Lights.2019.mkv", "en", true, false)]
    [InlineData("harbour.lights.2019.forced.de.ass", "Harbour.Lights.2019.mkv", "de", true, false)]
    [InlineData("2_English.srt", "Harbour.Lights.2019.mkv", "en", false, false)]
    [InlineData("English (SDH).srt", "Harbour.Lights.2019.mkv", "en", false, true)]
    [InlineData("Harbour.Lights.2019.pt-BR.srt", "Harbour.Lights.2019.mkv", "pt", false, false)]
    [InlineData("Harbour.Lights.2019.hi.srt", "Harbour.Lights.2019.mkv", "hi", false, false)]
    [InlineData("Harbour.Lights.2019.en.hi.srt", "Harbour.Lights.2019.mkv", "en", false, true)]
    [InlineData("The.French.Dispatch.srt", "The.French.Dispatch.mkv", null, false, false)]
    [InlineData("Take.It.srt", "a8f0.mkv", null, false, false)]
    [InlineData("Harbour.Lights.2019.srt", "Harbour.Lights.2019.mkv", null, false, false)]
    [InlineData("ITA.srt", "Harbour.Lights.2019.mkv", "it", false, false)]
    public void File_name_gives_language_and_flags(string name, string film, string? language, bool forced, bool sounds) =>
        Assert.Equal(new SubtitleName(language, forced, sounds), SubtitleName.Parse(name, film));

    private static byte[] Bytes(int page, string text) => CodePagesEncodingProvider.Instance.GetEncoding(page)!.GetBytes(text);
}
