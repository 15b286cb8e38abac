using Sluice.Usenet.Media.Tracks;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Library;

/// <summary>Reads the tracks of a library file from its header before playback.</summary>
internal sealed class TrackProbe(FileStreamFactory files, TimeProvider time)
{
    // A preview must not block for long. Tracks not read by this timeout become known during playback.
    private static readonly TimeSpan ProbeTimeout = TimeSpan.FromSeconds(30);

    /// <summary>Reads the header of a file. Returns either its tracks or the failure.</summary>
    public async Task<(MediaTracks? Tracks, ReadFailure? Failure)> ReadAsync(LibraryFile file, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(ProbeTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, timeout.Token);
        try
        {
            return (await TrackReader.ReadAsync((offset, length, token) => ReadAsync(file, offset, length, token), file.Length, either.Token), null);
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

    private async ValueTask<ReadOnlyMemory<byte>> ReadAsync(LibraryFile file, long offset, int length, CancellationToken cancellationToken)
    {
        var bytes = new byte[length];
        await using var opened = await files.OpenAsync(file, offset, offset + length, OperationLane.Playback, client: null, cancellationToken);
        var read = await opened.Stream.ReadAtLeastAsync(bytes, length, throwOnEndOfStream: false, cancellationToken);
        return bytes.AsMemory(0, read);
    }
}
