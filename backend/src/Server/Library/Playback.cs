using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Library;

/// <summary>Why a library file cannot be read here and now.</summary>
internal enum ReadFailure
{
    /// <summary>Its bytes, or the list of its articles, are proved gone: asking again gives the same answer.</summary>
    Gone,

    /// <summary>All places were taken by streams that read, until the wait for one was over.</summary>
    Busy,

    /// <summary>The bytes came damaged a moment ago. A second question, which follows soon, decides whether they are gone.</summary>
    Damaged,

    /// <summary>Nothing is known about the bytes, because no provider could be asked.</summary>
    Unreachable,

    /// <summary>Nothing is known about the bytes, because database or blobs cannot be read at present.</summary>
    Unreadable,
}

/// <summary>Library files as players read them: in the lane of playback, with failures told apart by what a client can do about them.</summary>
internal sealed class Playback(FileStreamFactory files)
{
    /// <summary>Opens a part of a file. Nothing is fetched before the first read.</summary>
    /// <param name="file">The file.</param>
    /// <param name="offset">First byte, 0-based.</param>
    /// <param name="length">Number of bytes; nothing past the segment of the last one is ever fetched.</param>
    /// <param name="client">Address of the client: while others wait, none has more than half of the places.</param>
    /// <param name="cancellationToken">Gives up opening; a read has a token of its own.</param>
    /// <returns>A forward stream that the caller disposes asynchronously. Opening and reading throw what <see cref="Explain"/> knows.</returns>
    public async Task<ReadOnlyStream> OpenAsync(LibraryFile file, long offset, long length, string client, CancellationToken cancellationToken) =>
        await files.OpenAsync(file, offset, offset + length, OperationLane.Playback, client, cancellationToken);

    /// <summary>The reason of a failed read, or null for an exception that is a bug or has nothing to do with reading.</summary>
    public static ReadFailure? Explain(Exception failure) => failure switch
    {
        ArticleGoneException or StoredNzbLostException => ReadFailure.Gone,
        StreamLimitException => ReadFailure.Busy,
        ArticleDoubtedException => ReadFailure.Damaged,
        // Bytes that left and turned out wrong, and a release removed while it was opened, are right when asked for again.
        // A volume that is not as predicted is right once its release has been mapped anew.
        NntpException or WithdrawnBytesException or RefutedExtentException or FileNotFoundException => ReadFailure.Unreachable,
        // Any other fault of input or output is one of the disk: a list that cannot be written, a handle too many, a mount that is gone.
        IOException or UnauthorizedAccessException => ReadFailure.Unreadable,
        _ => null,
    };
}
