using System.Globalization;
using Sluice.Usenet.Yenc;

namespace Sluice.Server.History;

/// <summary>Why an import failed. Names and sentences are part of the contract (docs/contracts/import.md, section 9).</summary>
internal enum FailureReason
{
    /// <summary>The content is no NZB.</summary>
    NotAnNzb,

    /// <summary>An NZB without a single usable article.</summary>
    NzbEmpty,

    /// <summary>Beyond one of the limits of IMP-11.</summary>
    NzbTooLarge,

    /// <summary>The stored copy is gone or damaged.</summary>
    StoredNzbLost,

    /// <summary>The NZB could not be had at its address.</summary>
    UrlFetchFailed,

    /// <summary>The address must not be asked for.</summary>
    UrlRefused,

    /// <summary>The name is taken, and the settings say that this is a failure.</summary>
    DuplicateRelease,

    /// <summary>Its articles were gone when it was imported before.</summary>
    KnownDead,

    /// <summary>No first article exists anywhere.</summary>
    DeadPost,

    /// <summary>More than a tenth of a sample of its articles is gone everywhere.</summary>
    SevereDamage,

    /// <summary>Articles are gone that a file cannot do without.</summary>
    MissingArticles,

    /// <summary>An article that a file cannot do without is damaged wherever it exists.</summary>
    CorruptArticles,

    /// <summary>An archive goes on in a volume that was never posted.</summary>
    IncompleteSet,

    /// <summary>The payload is compressed.</summary>
    CompressedArchive,

    /// <summary>An archive is encrypted, and there is no password.</summary>
    EncryptedNoPassword,

    /// <summary>An archive is encrypted, and no password fits.</summary>
    WrongPassword,

    /// <summary>The payload is packed in a way that cannot be streamed.</summary>
    UnsupportedArchive,

    /// <summary>An archive is damaged or contradicts itself.</summary>
    BrokenArchive,

    /// <summary>Nothing in it can be played.</summary>
    NoMedia,

    /// <summary>All that can be played are samples.</summary>
    OnlySamples,

    /// <summary>A step made no progress twice.</summary>
    Stalled,

    /// <summary>A client has given it up while it was being published.</summary>
    Cancelled,

    /// <summary>A defect of this program.</summary>
    InternalError,

    /// <summary>It failed at the server that the history comes from, which keeps no reason.</summary>
    FailedBefore,
}

/// <summary>A reason with its sentence. The sentences are those of docs/contracts/import.md, section 9, word by word.</summary>
/// <remarks>A sentence never holds a key, a password, an address with a key, or a path of the host (IMP-80).</remarks>
internal sealed record ImportFailure
{
    private ImportFailure(FailureReason reason, FormattableString sentence)
    {
        Reason = reason;
        Sentence = sentence.ToString(CultureInfo.InvariantCulture);
    }

    /// <summary>The reason; its name is stored.</summary>
    public FailureReason Reason { get; }

    /// <summary>One sentence for the user and for <c>fail_message</c>.</summary>
    public string Sentence { get; }

    /// <param name="detected">The kind of content found, as in "a web page".</param>
    public static ImportFailure NotAnNzb(string detected) => new(FailureReason.NotAnNzb, $"The file is not an NZB ({detected}).");

    /// <summary>No usable article.</summary>
    public static ImportFailure NzbEmpty() => new(FailureReason.NzbEmpty, $"The NZB lists no usable articles.");

    /// <param name="what">The limit, as in "50,000 files".</param>
    public static ImportFailure NzbTooLarge(string what) =>
        new(FailureReason.NzbTooLarge, $"The NZB is larger than the limits allow ({what}).");

    /// <summary>The blob is gone or its hash is wrong.</summary>
    public static ImportFailure StoredNzbLost() =>
        new(FailureReason.StoredNzbLost, $"The stored NZB was lost or damaged; add it again.");

    /// <param name="cause">Status or cause, without the address.</param>
    public static ImportFailure UrlFetchFailed(string cause) =>
        new(FailureReason.UrlFetchFailed, $"The NZB could not be fetched: {cause}.");

    /// <summary>The host is neither public nor trusted.</summary>
    public static ImportFailure UrlRefused() =>
        new(FailureReason.UrlRefused, $"The address is not allowed; add its host to the trusted hosts.");

    /// <summary>The name is taken.</summary>
    public static ImportFailure DuplicateRelease() =>
        new(FailureReason.DuplicateRelease, $"A release of this name is already there.");

    /// <summary>An import of the same articles has failed because they are gone.</summary>
    public static ImportFailure KnownDead() =>
        new(FailureReason.KnownDead, $"This post failed before: its articles are gone from all providers.");

    /// <param name="heads">First articles that were asked for.</param>
    /// <param name="providers">Providers that were asked.</param>
    public static ImportFailure DeadPost(int heads, int providers) => heads == 1
        ? new(FailureReason.DeadPost, $"The post is gone: its first article is missing at {All(providers)}.")
        : new(FailureReason.DeadPost, $"The post is gone: none of {heads} first articles exists at {(providers == 1 ? "the provider" : Of(providers))}.");

    /// <param name="missing">Articles that are gone.</param>
    /// <param name="answered">Articles of the sample that the providers have answered for.</param>
    public static ImportFailure SevereDamage(int missing, int answered) =>
        new(FailureReason.SevereDamage, $"Too much is missing: {missing} of {answered} sampled articles {Are(missing)} gone at all providers.");

    /// <param name="file">Name of the file.</param>
    /// <param name="missing">Articles that are gone.</param>
    /// <param name="asked">Articles that were asked for.</param>
    /// <param name="providers">Providers that were asked.</param>
    public static ImportFailure MissingArticles(string file, int missing, int asked, int providers) => asked == 1
        ? new(FailureReason.MissingArticles, $"{file}: an article it cannot do without is gone at {All(providers)}.")
        : new(FailureReason.MissingArticles, $"{file}: {missing} of {asked} articles {Are(missing)} gone at {All(providers)}.");

    /// <param name="file">Name of the file.</param>
    public static ImportFailure CorruptArticles(string file) =>
        new(FailureReason.CorruptArticles, $"{file}: an article it cannot do without is damaged at every provider.");

    /// <param name="have">Volumes that were posted.</param>
    /// <param name="need">Volumes that the archive has, as far as known.</param>
    public static ImportFailure IncompleteSet(int have, int need) =>
        new(FailureReason.IncompleteSet, $"The archive continues in a volume that was never posted ({have} of {need}).");

    /// <param name="file">Name of the file in the archive.</param>
    /// <param name="method">How it is compressed, as in "m3".</param>
    public static ImportFailure CompressedArchive(string file, string method) =>
        new(FailureReason.CompressedArchive, $"{file} is compressed ({method}); only stored archives can be streamed.");

    /// <summary>No source gives a password.</summary>
    public static ImportFailure EncryptedNoPassword() =>
        new(FailureReason.EncryptedNoPassword, $"The archive is encrypted and no password was given.");

    /// <summary>No password that is known fits.</summary>
    public static ImportFailure WrongPassword() => new(FailureReason.WrongPassword, $"The archive password is wrong.");

    /// <param name="detail">The damage.</param>
    public static ImportFailure BrokenArchive(string detail) =>
        new(FailureReason.BrokenArchive, $"The archive is damaged or inconsistent ({detail}).");

    /// <param name="format">Name of the format, as in "RAR".</param>
    /// <param name="detail">Why not.</param>
    public static ImportFailure UnsupportedArchive(string format, string detail) =>
        new(FailureReason.UnsupportedArchive, $"{format} archives of this kind cannot be streamed ({detail}).");

    /// <summary>All articles would have to be fetched to learn their lengths, and they are too long for that (IMP-35).</summary>
    /// <param name="encoding">Their encoding.</param>
    public static ImportFailure TooLongToCount(ArticleEncoding encoding) => encoding == ArticleEncoding.Uuencode
        ? UnsupportedArchive("Uuencode", "uuencode larger than 64 MiB")
        : UnsupportedArchive("yEnc", "yEnc without positions larger than 64 MiB");

    /// <summary>Nothing to play.</summary>
    public static ImportFailure NoMedia() => new(FailureReason.NoMedia, $"The release holds no video or audio file.");

    /// <summary>Nothing to play but samples.</summary>
    public static ImportFailure OnlySamples() => new(FailureReason.OnlySamples, $"The release holds samples only.");

    /// <param name="step">Name of the step.</param>
    public static ImportFailure Stalled(string step) => new(FailureReason.Stalled, $"Import made no progress twice in step {step}.");

    /// <param name="who">Who has given it up, as in "a client".</param>
    public static ImportFailure Cancelled(string who) => new(FailureReason.Cancelled, $"Removed by {who}.");

    /// <param name="id">The item, under which the log has the details.</param>
    public static ImportFailure InternalError(string id) =>
        new(FailureReason.InternalError, $"Import failed unexpectedly; details are in the log under {id}.");

    /// <param name="message">What the old server says of it; empty for nothing.</param>
    public static ImportFailure FailedBefore(string message) => message.Trim().TrimEnd('.') is { Length: > 0 } said
        ? new(FailureReason.FailedBefore, $"It failed on the old server, which said: {said}.")
        : new(FailureReason.FailedBefore, $"It failed on the old server, which did not say why.");

    private static string Are(int count) => count == 1 ? "is" : "are";

    private static string All(int providers) => providers == 1 ? "the provider" : "all " + Of(providers);

    private static string Of(int providers) => string.Create(CultureInfo.InvariantCulture, $"{providers} providers");
}
