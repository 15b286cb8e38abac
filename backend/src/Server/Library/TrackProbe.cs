using Sluice.Usenet.Media.Tracks;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Library;

/// <summary>Reads which tracks a library file has, from its header, before anything plays it.</summary>
internal sealed class TrackProbe(FileStreamFactory files, TimeProvider time)
{
    // A preview is waited for; what has not come by then comes with the film, if it does.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    /// <summary>Reads the header of a file.</summary>
    /// <returns>What it says, or why it cannot be read now. One of the two.</returns>
    public async Task<(MediaTracks? Tracks, ReadFailure? Failure)> ReadAsync(LibraryFile file, CancellationToken cancellationToken)
    {
        using var patience = new CancellationTokenSource(Patience, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, patience.Token);
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
        await using var stream = await files.OpenAsync(file, offset, offset + length, OperationLane.Playback, client: null, cancellationToken);
        var read = await stream.ReadAtLeastAsync(bytes, length, throwOnEndOfStream: false, cancellationToken);
        return bytes.AsMemory(0, read);
    }
}
