using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Library;

/// <summary>Opens library files for reading.</summary>
internal sealed class FileStreamFactory(
    LibraryStore store,
    RecentFilms recent,
    OpenReleases releases,
    BuiltInClip clip,
    ProviderHost providers,
    MapCorrections corrections,
    PostedHabits habits,
    Predictions predictions)
{
    /// <summary>Opens a file, or a part of it. Nothing is fetched before the first read.</summary>
    /// <param name="file">The file.</param>
    /// <param name="position">Where reading begins.</param>
    /// <param name="end">Offset behind the last byte that will be asked for; nothing past its segment is ever fetched.</param>
    /// <param name="lane">Why it is read.</param>
    /// <param name="client">On whose behalf, as in <see cref="Sluice.Usenet.Streams.Reading.StreamEngine"/>; null: on behalf of the lane.</param>
    /// <param name="cancellationToken">Gives up opening; a read has a token of its own.</param>
    /// <returns>A stream that the caller disposes asynchronously.</returns>
    /// <exception cref="StoredNzbLostException">List of message-ids and NZB are lost.</exception>
    /// <exception cref="FileNotFoundException">The release was removed in the meantime.</exception>
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
        var posted = recent.AreAll && recent.FindPosted(file) is { } known ? known : await FindPostedAsync(file, content, cancellationToken);

        var release = await releases.OpenAsync(file.Release.NzbHash, cancellationToken);
        try
        {
            var origin = new FileOrigin(file.ETag, file.Length);
            var files = posted.ToDictionary(
                stored => stored.Ordinal,
                stored => Open(stored, release.Take(stored.Places)));
            recent.Note(file, posted);
            var proofs = predictions.For(file.Release, posted, files);
            List<FileExtent> extents =
            [
                .. content.Extents.Select(extent =>
                    new FileExtent(files[extent.PostedFile], extent.Offset, extent.Length) { Proof = proofs.GetValueOrDefault(extent.PostedFile) }),
            ];
            return new OpenedFileStream(providers.Engine.Open(extents, content.Cipher, file.Length, lane, position, end, client), release);

            PostedFile Open(StoredPostedFile stored, ISegmentIds segments) =>
                new(stored.Map, segments)
                {
                    Origin = origin,
                    Correction = corrections.For(file.Release, stored.Ordinal, segments),
                    Habit = habits.For(file.Release.NzbHash, stored),
                };
        }
        catch
        {
            release.Dispose();
            throw;
        }
    }

    /// <summary>Says where the bytes of a file are, without opening it: what was opened last is known without a question to the database.</summary>
    /// <param name="file">The file.</param>
    /// <param name="mostCells">Into how many equal parts it is divided at most.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="StoredNzbLostException">List of message-ids and NZB are lost.</exception>
    /// <exception cref="FileNotFoundException">The release was removed in the meantime.</exception>
    public async Task<FileCells> LookAsync(LibraryFile file, int mostCells, CancellationToken cancellationToken)
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

/// <summary>The stream of a library file together with the list of message-ids that it reads from.</summary>
internal sealed class OpenedFileStream(ReadOnlyStream inner, IDisposable ids) : ReadOnlyStream
{
    /// <inheritdoc/>
    public override long Length => inner.Length;

    /// <inheritdoc/>
    public override long Position
    {
        get => inner.Position;
        set => inner.Position = value;
    }

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        inner.ReadAsync(buffer, cancellationToken);

    /// <inheritdoc/>
    public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken) =>
        inner.LendAsync(loan, most, cancellationToken);

    /// <inheritdoc/>
    public override void HintSeek(long position) => inner.HintSeek(position);

    /// <inheritdoc/>
    public override void WatchProof(Action headArrived) => inner.WatchProof(headArrived);

    /// <inheritdoc/>
    public override StreamSnapshot? Look() => inner.Look();

    /// <inheritdoc/>
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
