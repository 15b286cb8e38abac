using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Library;

internal sealed class FileStreamFactory(
    LibraryStore store,
    RecentFilms recent,
    OpenReleases releases,
    BuiltInClip clip,
    ProviderHost providers,
    ProofStores proofs)
{
    /// <summary>Opens a file or a part of it. Nothing is fetched before the first read.</summary>
    /// <param name="file">The file.</param>
    /// <param name="position">Where reading begins.</param>
    /// <param name="end">Offset after the last requested byte; nothing after its segment is fetched.</param>
    /// <param name="lane">The purpose of the read.</param>
    /// <param name="client">
    /// The client for fair sharing, see <see cref="Sluice.Usenet.Streams.Reading.StreamEngine"/>; null for the lane itself.
    /// </param>
    /// <param name="cancellationToken">Cancels opening, not later reads.</param>
    /// <returns>A stream that the caller disposes asynchronously.</returns>
    /// <exception cref="StoredNzbLostException">The message-id list and the NZB are lost.</exception>
    /// <exception cref="FileNotFoundException">The release was removed meanwhile.</exception>
    public async Task<ReadOnlyStream> OpenAsync(
        LibraryFile file,
        long position,
        long end,
        OperationLane lane,
        string? client,
        CancellationToken cancellationToken)
    {
        if (file.Id == BuiltInClip.FileId)
            return providers.Engine.Open(clip.Extents, lane, position, end, client);

        var content = ContentMap.Unpack(file.Content);
        var posted = recent.IsOnlySource && recent.FindPosted(file) is { } known ? known : await FindPostedAsync(file, content, cancellationToken);

        var release = await releases.OpenAsync(file.Release.NzbHash, cancellationToken);
        try
        {
            var files = proofs.Open(file, posted, release);
            recent.Note(file, posted);
            List<FileExtent> extents =
            [
                .. content.Extents.Select(extent => files[extent.PostedFile] with { Offset = extent.Offset, Length = extent.Length }),
            ];
            return new OpenedFileStream(providers.Engine.Open(extents, content.Cipher, file.Length, lane, position, end, client), release);
        }
        catch
        {
            release.Dispose();
            throw;
        }
    }

    /// <summary>Returns which parts of a file are cached, without opening it. Recently opened files need no database query.</summary>
    /// <param name="file">The file.</param>
    /// <param name="mostCells">Maximum number of equal parts.</param>
    /// <param name="cancellationToken">Cancels the query.</param>
    /// <exception cref="StoredNzbLostException">The message-id list and the NZB are lost.</exception>
    /// <exception cref="FileNotFoundException">The release was removed meanwhile.</exception>
    public async Task<FileCells> GetCellsAsync(LibraryFile file, int mostCells, CancellationToken cancellationToken)
    {
        if (file.Id == BuiltInClip.FileId)
            return await providers.Engine.LookAsync(clip.Extents, mostCells, cancellationToken);

        var content = ContentMap.Unpack(file.Content);
        var posted = recent.FindPosted(file) ?? await FindPostedAsync(file, content, cancellationToken);
        using var release = await releases.OpenAsync(file.Release.NzbHash, cancellationToken);
        var origin = new FileOrigin(file.ETag, file.Length);
        var files = posted.ToDictionary(
            stored => stored.Ordinal, stored => new PostedFile(stored.Map, release.Take(stored.Places)) { Origin = origin });
        FileExtent[] extents = [.. content.Extents.Select(extent => new FileExtent(files[extent.PostedFile], extent.Offset, extent.Length))];
        return await providers.Engine.LookAsync(extents, mostCells, cancellationToken);
    }

    private async Task<IReadOnlyList<StoredPostedFile>> FindPostedAsync(LibraryFile file, FileContent content, CancellationToken cancellationToken)
    {
        var posted = await store.GetPostedFilesAsync(
            file.Release.Id, content.Extents.Min(extent => extent.PostedFile), content.Extents.Max(extent => extent.PostedFile), cancellationToken);
        return posted.Count > 0 ? posted : throw new FileNotFoundException($"The release {file.Release.Name} was removed.");
    }
}

/// <summary>A library file stream that also owns the message-ids it reads from.</summary>
internal sealed class OpenedFileStream(ReadOnlyStream inner, IDisposable ids) : ReadOnlyStream
{
    public override long Length => inner.Length;

    public override long Position
    {
        get => inner.Position;
        set => inner.Position = value;
    }

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        inner.ReadAsync(buffer, cancellationToken);

    public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken) =>
        inner.LendAsync(loan, most, cancellationToken);

    public override void HintSeek(long position) => inner.HintSeek(position);

    public override void WatchProof(Action headArrived) => inner.WatchProof(headArrived);

    public override StreamSnapshot? Snapshot() => inner.Snapshot();

    protected override async ValueTask CloseAsync()
    {
        try
        {
            await inner.DisposeAsync();
        }
        finally
        {
            ids.Dispose();
        }
    }
}
