using System.Data.Common;
using Sluice.Server.Database;
using Sluice.Usenet.Media.Tracks;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Library;

/// <summary>Reads a library file's tracks from its header before playback, and stores the media facts.</summary>
internal sealed class TrackProbe(FileStreamFactory files, MediaStore media, TimeProvider time)
{
    // Short, because a preview must not block for long. Tracks that are not read in time become known during playback.
    private static readonly TimeSpan ProbeTimeout = TimeSpan.FromSeconds(30);

    /// <summary>Reads the header of a file. Returns either its tracks or the failure.</summary>
    public async Task<(MediaTracks? Tracks, ReadFailure? Failure)> ReadAsync(LibraryFile file, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(ProbeTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, timeout.Token);
        try
        {
            var account = new ReaderAccount(TrafficLane.Other);
            var tracks = await TrackReader.ReadAsync((offset, length, token) => ReadAsync(file, offset, length, account, token), file.Length, either.Token);
            if (MediaFacts.Of(tracks) is { } facts)
                await KeepAsync(file, facts, cancellationToken);
            return (tracks, null);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return (null, ReadFailure.Unreachable);
        }
        catch (Exception e) when (Playback.Explain(e) is { } failure)
        {
            return (null, failure);
        }
    }

    private async Task KeepAsync(LibraryFile file, MediaFacts facts, CancellationToken cancellationToken)
    {
        try
        {
            await media.KeepAsync(file.Id, facts, cancellationToken);
        }
        catch (Exception e) when (e is DbException or StorageException)
        {
            // The tracks are known even if they could not be stored. The next header read stores them.
        }
    }

    private async ValueTask<ReadOnlyMemory<byte>> ReadAsync(LibraryFile file, long offset, int length, ReaderAccount account, CancellationToken cancellationToken)
    {
        var bytes = new byte[length];
        await using var opened = await files.OpenAsync(file, offset, offset + length, OperationLane.Playback, client: null, account, cancellationToken);
        var read = await opened.Stream.ReadAtLeastAsync(bytes, length, throwOnEndOfStream: false, cancellationToken);
        return bytes.AsMemory(0, read);
    }
}
