using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Library;

/// <summary>Why a library file cannot be read.</summary>
internal enum ReadFailure
{
    /// <summary>The content or its article list is definitely lost, so a retry is pointless.</summary>
    Gone,

    /// <summary>The import refused the release, which came from an old server.</summary>
    Refused,

    /// <summary>No stream slot became free in time.</summary>
    Busy,

    /// <summary>An article was damaged. A retry, which follows soon, decides whether the article is lost.</summary>
    Damaged,

    /// <summary>No provider could be reached, so the state is unknown.</summary>
    Unreachable,

    /// <summary>The release is still being opened or mapped again. The message says which of the two.</summary>
    Unsettled,

    /// <summary>The database or blob store cannot be read, so the state is unknown.</summary>
    Unreadable,
}

/// <summary>Opens library files in the playback lane and classifies failures by how a client can react.</summary>
internal sealed class Playback(FileStreamFactory files)
{
    /// <summary>Opens a part of a file. No article is fetched before the first read.</summary>
    /// <param name="offset">First byte, 0-based.</param>
    /// <param name="length">Number of bytes. No segment after the last byte is fetched.</param>
    /// <param name="client">Client address. While others wait, one client gets at most half of the stream slots.</param>
    /// <param name="account">Pays for everything that is fetched to read the file.</param>
    /// <param name="cancellationToken">Cancels opening, not later reads.</param>
    /// <returns>The open file, which the caller disposes. Opening and reading throw exceptions known to <see cref="Explain"/>.</returns>
    public async Task<OpenedFile> OpenAsync(
        LibraryFile file, long offset, long length, string client, ReaderAccount account, CancellationToken cancellationToken) =>
        await files.OpenAsync(file, offset, offset + length, OperationLane.Playback, client, account, cancellationToken);

    /// <summary>Classifies a failed read. Null if the exception is a bug or unrelated to reading.</summary>
    public static ReadFailure? Explain(Exception failure) => failure switch
    {
        ArticleGoneException or StoredNzbLostException => ReadFailure.Gone,
        ReleaseNotOpenedException refused => refused.IsRefused ? ReadFailure.Refused : ReadFailure.Unsettled,
        RefutedExtentException => ReadFailure.Unsettled,
        StreamLimitException => ReadFailure.Busy,
        ArticleDoubtedException => ReadFailure.Damaged,
        // A retry may succeed, because it refetches withdrawn bytes and looks up removed releases again.
        NntpException or WithdrawnBytesException or FileNotFoundException => ReadFailure.Unreachable,
        // Any other I/O error is a disk error, such as an unwritable list, too many open files or a lost mount.
        IOException or UnauthorizedAccessException => ReadFailure.Unreadable,
        _ => null,
    };
}
