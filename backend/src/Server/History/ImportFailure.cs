using System.Globalization;
using Sluice.Usenet.Yenc;

namespace Sluice.Server.History;

/// <summary>Why an import failed. Names and sentences are part of the contract (docs/contracts/import.md, section 9).</summary>
internal enum FailureReason
{
    NotAnNzb,

    NzbEmpty,

    /// <summary>The NZB exceeds a limit of IMP-11.</summary>
    NzbTooLarge,

    StoredNzbLost,

    UrlFetchFailed,

    UrlRefused,

    /// <summary>A release of this name exists, and the settings treat that as a failure.</summary>
    DuplicateRelease,

    /// <summary>An earlier import of the same post found articles missing.</summary>
    KnownDead,

    /// <summary>No provider has the first article of any file.</summary>
    DeadPost,

    /// <summary>More than a tenth of the sampled articles are missing on all providers.</summary>
    SevereDamage,

    /// <summary>Articles essential for playback are missing.</summary>
    MissingArticles,

    /// <summary>An essential article is damaged on every provider.</summary>
    CorruptArticles,

    /// <summary>A volume of the archive was never posted.</summary>
    IncompleteSet,

    CompressedArchive,

    EncryptedNoPassword,

    WrongPassword,

    /// <summary>The archive format cannot be streamed.</summary>
    UnsupportedArchive,

    BrokenArchive,

    NoMedia,

    OnlySamples,

    Stalled,

    /// <summary>A client removed the item while it was being published.</summary>
    Cancelled,

    InternalError,

    /// <summary>The import failed on the old server, so there is no specific reason.</summary>
    FailedBefore,
}

/// <summary>A reason and its sentence, verbatim from docs/contracts/import.md, section 9.</summary>
/// <remarks>The sentence must not contain a key, a password, a URL with a key or a host path, because clients see it (IMP-80).</remarks>
internal sealed record ImportFailure
{
    private ImportFailure(FailureReason reason, FormattableString sentence)
    {
        Reason = reason;
        Sentence = sentence.ToString(CultureInfo.InvariantCulture);
    }

    /// <summary>The reason. Its name is stored, so it must not be renamed.</summary>
    public FailureReason Reason { get; }

    /// <summary>One sentence for users, also sent as <c>fail_message</c>.</summary>
    public string Sentence { get; }

    /// <param name="detected">What the content was detected to be, such as "a web page".</param>
    public static ImportFailure NotAnNzb(string detected) => new(FailureReason.NotAnNzb, $"The file is not an NZB ({detected}).");

    public static ImportFailure NzbEmpty() => new(FailureReason.NzbEmpty, $"The NZB lists no usable articles.");

    /// <param name="what">The limit, such as "50,000 files".</param>
    public static ImportFailure NzbTooLarge(string what) =>
        new(FailureReason.NzbTooLarge, $"The NZB is larger than the limits allow ({what}).");

    public static ImportFailure StoredNzbLost() =>
        new(FailureReason.StoredNzbLost, $"The stored NZB was lost or damaged; add it again.");

    /// <param name="cause">HTTP status or other cause, without the URL, because it may contain a key.</param>
    public static ImportFailure UrlFetchFailed(string cause) =>
        new(FailureReason.UrlFetchFailed, $"The NZB could not be fetched: {cause}.");

    public static ImportFailure UrlRefused() =>
        new(FailureReason.UrlRefused, $"The address is not allowed; add its host to the trusted hosts.");

    public static ImportFailure DuplicateRelease() =>
        new(FailureReason.DuplicateRelease, $"A release of this name is already there.");

    public static ImportFailure KnownDead() =>
        new(FailureReason.KnownDead, $"This post failed before: its articles are gone from all providers.");

    public static ImportFailure DeadPost(int heads, int providers) => heads == 1
        ? new(FailureReason.DeadPost, $"The first article no longer exists on {Any(providers)}.")
        : new(FailureReason.DeadPost, $"None of the {heads} articles we checked still exists on {Any(providers)}.");

    public static ImportFailure SevereDamage(int missing, int answered) =>
        new(FailureReason.SevereDamage, $"Too much is missing: {missing} of {answered} sampled articles {Are(missing)} gone at all providers.");

    public static ImportFailure MissingArticles(string file, int missing, int asked, int providers) => asked == 1
        ? new(FailureReason.MissingArticles, $"{file}: an article it cannot do without is gone at {All(providers)}.")
        : new(FailureReason.MissingArticles, $"{file}: {missing} of {asked} articles {Are(missing)} gone at {All(providers)}.");

    public static ImportFailure CorruptArticles(string file) =>
        new(FailureReason.CorruptArticles, $"{file}: an article it cannot do without is damaged at every provider.");

    /// <summary>The number of volumes needed is a minimum, because the exact number may be unknown.</summary>
    public static ImportFailure IncompleteSet(int have, int need) =>
        new(FailureReason.IncompleteSet, $"Part of the archive was never posted ({have} of {need}).");

    public static ImportFailure CompressedArchive(string file, string method) =>
        new(FailureReason.CompressedArchive, $"{file} is compressed ({method}); only stored archives can be streamed.");

    public static ImportFailure EncryptedNoPassword() =>
        new(FailureReason.EncryptedNoPassword, $"The archive is encrypted and no password was given.");

    public static ImportFailure WrongPassword() => new(FailureReason.WrongPassword, $"The archive password is wrong.");

    public static ImportFailure BrokenArchive(string detail) =>
        new(FailureReason.BrokenArchive, $"The archive is damaged or inconsistent ({detail}).");

    public static ImportFailure UnsupportedArchive(string format, string detail) =>
        new(FailureReason.UnsupportedArchive, $"{format} archives of this kind cannot be streamed ({detail}).");

    /// <summary>The post is too long to measure: without known part lengths, that would require downloading it (IMP-35).</summary>
    public static ImportFailure TooLongToCount(ArticleEncoding encoding) => encoding == ArticleEncoding.Uuencode
        ? UnsupportedArchive("Uuencode", "uuencode larger than 64 MiB")
        : UnsupportedArchive("yEnc", "yEnc without positions larger than 64 MiB");

    public static ImportFailure NoMedia() => new(FailureReason.NoMedia, $"The release holds no video or audio file.");

    public static ImportFailure OnlySamples() => new(FailureReason.OnlySamples, $"The release holds samples only.");

    public static ImportFailure Stalled(string step) => new(FailureReason.Stalled, $"Import made no progress twice in step {step}.");

    public static ImportFailure Cancelled(string who) => new(FailureReason.Cancelled, $"Removed by {who}.");

    public static ImportFailure InternalError(string id) =>
        new(FailureReason.InternalError, $"Import failed unexpectedly; details are in the log under {id}.");

    /// <param name="message">What the old server said; may be empty.</param>
    public static ImportFailure FailedBefore(string message) => message.Trim().TrimEnd('.') is { Length: > 0 } said
        ? new(FailureReason.FailedBefore, $"It failed on the old server, which said: {said}.")
        : new(FailureReason.FailedBefore, $"It failed on the old server, which did not say why.");

    private static string Are(int count) => count == 1 ? "is" : "are";

    private static string Any(int providers) => providers == 1 ? "your provider" : "any of your " + Of(providers);

    private static string All(int providers) => providers == 1 ? "the provider" : "all " + Of(providers);

    private static string Of(int providers) => string.Create(CultureInfo.InvariantCulture, $"{providers} providers");
}
