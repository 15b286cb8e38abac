using System.Text;
using FsCheck;
using FsCheck.Fluent;
using Sluice.Usenet.Probing;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

public sealed class NameCleanerTests
{
    [Theory]
    [InlineData("film.mkv", "film.mkv")]
    [InlineData("a/b\\c", "a_b_c")]
    [InlineData("a<b>c:d\"e|f?g*h", "a_b_c_d_e_f_g_h")]
    [InlineData("film\u0000\u001F\u0085.mkv\r\n", "film.mkv")]
    [InlineData("gpj.\u202Emkv\u2066", "gpj.mkv")]
    [InlineData("e\u202E\u0301.mkv", "\u00E9.mkv")]
    [InlineData("u\u0308ber", "\u00FCber")]
    [InlineData("a\uFFFEb\uFFFFc\uFDD0", "abc")]
    [InlineData(".", "_")]
    [InlineData("..", "_")]
    [InlineData("...", "_")]
    [InlineData("", "_")]
    [InlineData(" \t ", "_")]
    [InlineData("  name. . ", "name")]
    [InlineData(".hidden", ".hidden")]
    [InlineData("con", "_con")]
    [InlineData("NUL.txt", "_NUL.txt")]
    [InlineData("Lpt1 .x", "_Lpt1 .x")]
    [InlineData("com\u00B2", "_com\u00B2")]
    [InlineData("COM", "COM")]
    [InlineData("COM10", "COM10")]
    [InlineData("console", "console")]
    public void Windows_safe_cleaning_gives_the_expected_name(string name, string clean) =>
        Assert.Equal(clean, NameCleaner.Clean(name, windowsSafe: true));

    [Theory]
    [InlineData("a<b>c:d\"e|f?g*h", "a<b>c:d\"e|f?g*h")]
    [InlineData("name. ", "name. ")]
    [InlineData("NUL.txt", "NUL.txt")]
    [InlineData("a/b", "a_b")]
    [InlineData(".", "_")]
    [InlineData("..", "__")]
    public void Names_keep_Windows_only_restrictions_if_not_Windows_safe(string name, string clean) =>
        Assert.Equal(clean, NameCleaner.Clean(name, windowsSafe: false));

    [Fact]
    public void Lone_surrogates_become_replacement_characters()
    {
        var clean = NameCleaner.Clean("a\uD800b\uDC00c\U0001F3AC.mkv", windowsSafe: true);

        Assert.Equal("a\uFFFDb\uFFFDc\U0001F3AC.mkv", clean);
    }

    [Theory]
    [InlineData('x', 251)]
    [InlineData('\u00FC', 125)]
    [InlineData('\u65E5', 83)]
    public void Long_names_are_truncated_between_characters_of_the_stem(char letter, int kept)
    {
        var name = new string(letter, 400) + ".mkv";

        Assert.Equal(new string(letter, kept) + ".mkv", NameCleaner.Clean(name, windowsSafe: true));
        var second = NameCleaner.Clean(name, windowsSafe: true, " (2)");
        Assert.EndsWith(letter + " (2).mkv", second, StringComparison.Ordinal);
        Assert.InRange(Encoding.UTF8.GetByteCount(second), 250, 255);
    }

    [Fact]
    public void Suffix_is_inserted_before_the_extension()
    {
        Assert.Equal("film (2).mkv", NameCleaner.Clean("film.mkv", windowsSafe: true, " (2)"));
        Assert.Equal("film (2)", NameCleaner.Clean("film", windowsSafe: true, " (2)"));
    }

    [Fact]
    public void Random_text_cleans_to_a_valid_stable_name()
    {
        var letter = Gen.OneOf(
            Gen.Choose(0, 0xFFFF).Select(code => ((char)code).ToString()),
            Gen.Choose(0, 0x7F).Select(code => ((char)code).ToString()),
            Gen.Elements("\U0001F3AC", "\u0301", "\uD800", ".", " ", "con", "\u202E", new string('\u65E5', 80)));
        var text = letter.ListOf().Select(list => string.Concat(list));
        Check.One(
            Config.QuickThrowOnFailure.WithMaxTest(3000),
            Prop.ForAll(text.ToArbitrary(), name =>
            {
                foreach (var windowsSafe in (bool[])[true, false])
                {
                    var clean = NameCleaner.Clean(name, windowsSafe);

                    Assert.NotEmpty(clean);
                    Assert.True(clean.IsNormalized(NormalizationForm.FormC));
                    Assert.InRange(new UTF8Encoding(false, throwOnInvalidBytes: true).GetByteCount(clean), 1, NameCleaner.MaxBytes);
                    Assert.DoesNotContain(clean, char.IsControl);
                    Assert.DoesNotContain(clean, letter => "/\\\u202E\uFFFE\uFFFF".Contains(letter, StringComparison.Ordinal));
                    Assert.False(clean is "." or "..");
                    if (windowsSafe)
                        Assert.False(clean.Any(letter => "<>:\"|?*".Contains(letter, StringComparison.Ordinal)) || clean[^1] is '.' or ' ');
                    Assert.Equal(clean, NameCleaner.Clean(clean, windowsSafe));
                }
            }));
    }
}
