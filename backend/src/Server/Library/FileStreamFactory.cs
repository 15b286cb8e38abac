using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Library;

internal sealed class FileStreamFactory(
    LibraryStore store,
    RecentFilms recent,
    OpenReleases releases,
    BuiltInClip clip,
    ReleaseOpenings openings,
    ProviderHost providers,
    ProofStores proofs)
{
    /// <summary>Opens a file or a part of it. No article is fetched before the first read. The caller disposes the result.</summary>
    /// <param name="position">Offset of the first byte to read.</param>
    /// <param name="end">Offset just past the last requested byte. No segment beyond it is fetched.</param>
    /// <param name="client">The client, for fair sharing (<see cref="Sluice.Usenet.Streams.Reading.StreamEngine"/>); null for the lane itself.</param>
    /// <param name="account">Pays for everything that is fetched to read the file.</param>
    /// <param name="cancellationToken">Cancels opening, not later reads.</param>
    /// <exception cref="StoredNzbLostException">Both the message-id list and the NZB are lost.</exception>
    /// <exception cref="FileNotFoundException">The release was removed in the meantime.</exception>
    /// <exception cref="ReleaseNotOpenedException">The file was imported from an old server, and its NZB could not be opened.</exception>
    public async Task<OpenedFile> OpenAsync(
        LibraryFile file,
        long position,
        long end,
        OperationLane lane,
        string? client,
        ReaderAccount account,
        CancellationToken cancellationToken)
    {
        if (file.Id == BuiltInClip.FileId)
            return new OpenedFile(providers.Engine.Open(clip.Extents, lane, position, end, client, account), Ids: null);

        (file, var content, var posted) = recent.IsOnlySource && recent.FindPosted(file) is { } known
            ? (file, ContentMap.Unpack(file.Content), known)
            : await FindContentAsync(file, cancellationToken);
        if (content.IsUnopened)
        {
            file = await openings.OpenAsync(file, cancellationToken);
            (file, content, posted) = await FindContentAsync(file, cancellationToken);
            if (content.IsUnopened)
                throw new ReleaseNotOpenedException("The release is not opened yet.", isRefused: false);
        }

        var release = await releases.OpenAsync(file.Release.NzbHash, cancellationToken);
        try
        {
            var files = proofs.Open(file, posted, release, account);
            recent.Note(file, posted);
            List<FileExtent> extents =
            [
                .. content.Extents.Select(extent => files[extent.PostedFile] with { Offset = extent.Offset, Length = extent.Length }),
            ];
            return new OpenedFile(providers.Engine.Open(extents, content.Cipher, file.Length, lane, position, end, client, account), release);
        }
        catch
        {
            release.Dispose();
            throw;
        }
    }

    /// <summary>Returns which parts of a file are cached, without opening the file. For recently opened files no query is needed.</summary>
    /// <param name="mostCells">Maximum number of equal parts to return.</param>
    /// <exception cref="StoredNzbLostException">Both the message-id list and the NZB are lost.</exception>
    /// <exception cref="FileNotFoundException">The release was removed in the meantime.</exception>
    public async Task<FileCells> GetCellsAsync(LibraryFile file, int mostCells, CancellationToken cancellationToken)
    {
        if (file.Id == BuiltInClip.FileId)
            return await providers.Engine.LookAsync(clip.Extents, mostCells, cancellationToken);

        (file, var content, var posted) = recent.FindPosted(file) is { } known
            ? (file, ContentMap.Unpack(file.Content), known)
            : await FindContentAsync(file, cancellationToken);
        if (content.IsUnopened)
            return await providers.Engine.LookAsync([], mostCells, cancellationToken);
        using var release = await releases.OpenAsync(file.Release.NzbHash, cancellationToken);
        var origin = new FileOrigin(file.ETag, file.Length);
        var files = posted.ToDictionary(
            stored => stored.Ordinal, stored => new PostedFile(stored.Map, release.Take(stored.Places)) { Origin = origin });
        FileExtent[] extents = [.. content.Extents.Select(extent => new FileExtent(files[extent.PostedFile], extent.Offset, extent.Length))];
        return await providers.Engine.LookAsync(extents, mostCells, cancellationToken);
    }

    private async Task<(LibraryFile File, FileContent Content, IReadOnlyList<StoredPostedFile> Posted)> FindContentAsync(
        LibraryFile file, CancellationToken cancellationToken) =>
        await store.FindContentAsync(file, cancellationToken) ?? throw new FileNotFoundException($"The release {file.Release.Name} was removed.");
}

/// <summary>An open library file with its message-ids. Disposal closes the stream first, because the stream reads the ids.</summary>
/// <param name="Ids">The lease on the message-ids; null for the built-in clip.</param>
internal sealed record OpenedFile(ReadOnlyStream Stream, IDisposable? Ids) : IAsyncDisposable
{
    public async ValueTask DisposeAsync()
    {
        try
        {
            await Stream.DisposeAsync();
        }
        finally
        {
            Ids?.Dispose();
        }
    }
}
