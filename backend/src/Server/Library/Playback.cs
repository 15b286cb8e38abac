using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Library;

/// <summary>Why a library file is unreadable.</summary>
internal enum ReadFailure
{
    /// <summary>The content or its article list is proved gone; a retry gives the same answer.</summary>
    Gone,

    /// <summary>An import refuses the release, which came from an old server.</summary>
    Refused,

    /// <summary>No stream slot became free before the timeout.</summary>
    Busy,

    /// <summary>An article was damaged. A retry, due soon, decides whether it is gone.</summary>
    Damaged,

    /// <summary>Unknown, because no provider could be reached.</summary>
    Unreachable,

    /// <summary>Unknown, because the release is still being opened, or is mapped again. The message says which.</summary>
    Unsettled,

    /// <summary>Unknown, because the database or blob store is unreadable.</summary>
    Unreadable,
}

/// <summary>Opens library files in the playback lane and classifies failures by what a client can do.</summary>
internal sealed class Playback(FileStreamFactory files)
{
    /// <summary>Opens a part of a file. Nothing is fetched before the first read.</summary>
    /// <param name="offset">First byte, 0-based.</param>
    /// <param name="length">Number of bytes; nothing after the last one's segment is fetched.</param>
    /// <param name="client">Client address. While others wait, a client gets at most half of the stream slots.</param>
    /// <param name="cancellationToken">Cancels opening, not later reads.</param>
    /// <returns>The open file, which the caller disposes. Opening and reading throw exceptions known to <see cref="Explain"/>.</returns>
    public async Task<OpenedFile> OpenAsync(LibraryFile file, long offset, long length, string client, CancellationToken cancellationToken) =>
        await files.OpenAsync(file, offset, offset + length, OperationLane.Playback, client, cancellationToken);

    /// <summary>Classifies a failed read. Null if the exception is a bug or unrelated to reading.</summary>
    public static ReadFailure? Explain(Exception failure) => failure switch
    {
        ArticleGoneException or StoredNzbLostException => ReadFailure.Gone,
        ReleaseNotOpenedException refused => refused.IsRefused ? ReadFailure.Refused : ReadFailure.Unsettled,
        RefutedExtentException => ReadFailure.Unsettled,
        StreamLimitException => ReadFailure.Busy,
        ArticleDoubtedException => ReadFailure.Damaged,
        // A retry succeeds: withdrawn bytes are fetched, and removed releases looked up.
        NntpException or WithdrawnBytesException or FileNotFoundException => ReadFailure.Unreachable,
        // Any other I/O error comes from the disk: an unwritable list, too many open files, a lost mount.
        IOException or UnauthorizedAccessException => ReadFailure.Unreadable,
        _ => null,
    };
}
