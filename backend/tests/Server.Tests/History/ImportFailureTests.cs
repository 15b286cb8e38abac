using Sluice.Server.History;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Server.Tests.History;

public sealed class ImportFailureTests
{
    // The sentences in section 9 of docs/contracts/import.md.
    private static readonly Dictionary<ImportFailure, string> Sentences = new()
    {
        [ImportFailure.NotAnNzb("a web page")] = "The file is not an NZB (a web page).",
        [ImportFailure.NzbEmpty()] = "The NZB lists no usable articles.",
        [ImportFailure.NzbTooLarge("50,000 files")] = "The NZB is larger than the limits allow (50,000 files).",
        [ImportFailure.StoredNzbLost()] = "The stored NZB was lost or damaged; add it again.",
        [ImportFailure.UrlFetchFailed("HTTP 404")] = "The NZB could not be fetched: HTTP 404.",
        [ImportFailure.UrlRefused()] = "The address is not allowed; add its host to the trusted hosts.",
        [ImportFailure.DuplicateRelease()] = "A release of this name is already there.",
        [ImportFailure.KnownDead()] = "This post failed before: its articles are gone from all providers.",
        [ImportFailure.DeadPost(3, 2)] = "None of the 3 articles we checked still exists on any of your 2 providers.",
        [ImportFailure.SevereDamage(9, 64)] = "Too much is missing: 9 of 64 sampled articles are gone at all providers.",
        [ImportFailure.MissingArticles("a.mkv", 2, 3, 4)] = "a.mkv: 2 of 3 articles are gone at all 4 providers.",
        [ImportFailure.CorruptArticles("a.mkv")] = "a.mkv: an article it cannot do without is damaged at every provider.",
        [ImportFailure.IncompleteSet(21, 22)] = "Part of the archive was never posted (21 of 22).",
        [ImportFailure.CompressedArchive("a.mkv", "m3")] = "a.mkv is compressed (m3); only stored archives can be streamed.",
        [ImportFailure.EncryptedNoPassword()] = "The archive is encrypted and no password was given.",
        [ImportFailure.WrongPassword()] = "The archive password is wrong.",
        [ImportFailure.UnsupportedArchive("RAR", "x")] = "RAR archives of this kind cannot be streamed (x).",
        [ImportFailure.BrokenArchive("x")] = "The archive is damaged or inconsistent (x).",
        [ImportFailure.NoMedia()] = "The release holds no video or audio file.",
        [ImportFailure.OnlySamples()] = "The release holds samples only.",
        [ImportFailure.Stalled("ProbeHeads")] = "Import made no progress twice in step ProbeHeads.",
        [ImportFailure.Cancelled("a client")] = "Removed by a client.",
        [ImportFailure.InternalError("id")] = "Import failed unexpectedly; details are in the log under id.",
        [ImportFailure.FailedBefore("Not found.")] = "It failed on the old server, which said: Not found.",
    };

    [Fact]
    public void Every_failure_reason_has_the_message_in_the_contract()
    {
        Assert.Equal(Enum.GetValues<FailureReason>(), Sentences.Keys.Select(failure => failure.Reason).Order());
        Assert.All(Sentences, pair => Assert.Equal(pair.Value, pair.Key.Sentence));
    }

    [Fact]
    public void Messages_with_a_count_of_one_use_the_singular()
    {
        Assert.Equal("The first article no longer exists on any of your 2 providers.", ImportFailure.DeadPost(1, 2).Sentence);
        Assert.Equal("The first article no longer exists on your provider.", ImportFailure.DeadPost(1, 1).Sentence);
        Assert.Equal("None of the 3 articles we checked still exists on your provider.", ImportFailure.DeadPost(3, 1).Sentence);
        Assert.Equal("Too much is missing: 1 of 9 sampled articles is gone at all providers.", ImportFailure.SevereDamage(1, 9).Sentence);
        Assert.Equal("a.mkv: 1 of 2 articles is gone at the provider.", ImportFailure.MissingArticles("a.mkv", 1, 2, 1).Sentence);
        Assert.Equal("a.mkv: an article it cannot do without is gone at all 3 providers.", ImportFailure.MissingArticles("a.mkv", 1, 1, 3).Sentence);
    }

    [Fact]
    public void Old_failure_without_a_reason_gets_a_generic_message() =>
        Assert.Equal("It failed on the old server, which did not say why.", ImportFailure.FailedBefore(" ").Sentence);

    [Fact]
    public void Too_long_to_count_message_names_the_encoding()
    {
        var uuencode = ImportFailure.TooLongToCount(ArticleEncoding.Uuencode);
        Assert.Equal("Uuencode archives of this kind cannot be streamed (uuencode larger than 64 MiB).", uuencode.Sentence);
        Assert.Equal(FailureReason.UnsupportedArchive, uuencode.Reason);
        Assert.Equal(
            "yEnc archives of this kind cannot be streamed (yEnc without positions larger than 64 MiB).",
            ImportFailure.TooLongToCount(ArticleEncoding.Yenc).Sentence);
    }
}
