using System.Text;
using Sluice.Server.Database;
using Xunit;

namespace Sluice.Server.Tests.Database;

public sealed class SearchTextTests
{
    [Theory]
    [InlineData("Big.Buck_Bunny-2008", "big buck bunny 2008")]
    [InlineData("  A\t/ b\u0001c ", "a b c")]
    [InlineData("Am\u00e9lie AME\u0301LIE", "amelie amelie")]
    [InlineData("Stra\u00dfe \u0141\u00f3d\u017a \u00d8re", "strasse lodz ore")]
    [InlineData("\uD800", "\uD800")]
    [InlineData("", "")]
    public void Fold_drops_case_accents_and_separators(string text, string expected) => Assert.Equal(expected, SearchText.Fold(text));

    [Theory]
    [InlineData("big buck bunny", "", true)]
    [InlineData("big buck bunny", "big", true)]
    [InlineData("big buck bunny", "unn ig", true)]
    [InlineData("big buck bunny", "bunny big x", false)]
    [InlineData("\u65e5\u672c \u00f1", "\u672c", true)]
    [InlineData("", "a", false)]
    public void Text_must_contain_every_search_word(string text, string words, bool found) =>
        Assert.Equal(found, SearchText.ContainsWords(Encoding.UTF8.GetBytes(text), Encoding.UTF8.GetBytes(words)));

    [Fact]
    public void Search_words_are_limited_and_longest_first()
    {
        Assert.Equal(["bunny", "big", "a"], SearchText.WordsOf("a BIG.bunny big"));
        Assert.Equal(SearchText.MaxWords, SearchText.WordsOf(string.Join(' ', Enumerable.Range(0, 1000))).Count);
        Assert.Empty(SearchText.WordsOf(" .-_ "));
        Assert.Empty(SearchText.WordsOf(null));
    }
}
