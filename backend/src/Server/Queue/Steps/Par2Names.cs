using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Queue.Steps;

/// <summary>Reads the PAR2 indexes while other steps run (IMP-20, IMP-40). Only file naming and volumes of unknown order wait for them.</summary>
/// <remarks>Thread-safe. Disposal cancels the reads.</remarks>
internal sealed class Par2Names : IAsyncDisposable
{
    /// <summary>Maximum indexes per release. Each set has one.</summary>
    public const int MaxIndexes = 100;

    /// <summary>Maximum wait for the names, counted from the start of the reads.</summary>
    public static readonly TimeSpan Timeout = TimeSpan.FromSeconds(3);

    private static readonly Par2Matcher Nothing = new([]);

    private readonly CancellationTokenSource _ending = new();
    private readonly Task<Par2Matcher> _reading;
    private volatile Par2Matcher _known = Nothing;
    private readonly TimeProvider _time;
    private readonly long _began;

    private Par2Names(ProviderHost providers, IReadOnlyList<PostedFile> indexes, TimeProvider time)
    {
        (_time, _began) = (time, time.GetTimestamp());
        Count = Math.Min(indexes.Count, MaxIndexes);
        _reading = indexes.Count == 0 ? Task.FromResult(Nothing) : ReadAsync(providers, [.. indexes.Take(MaxIndexes)]);
    }

    /// <param name="indexes">The index files. Their ids must stay open until disposal.</param>
    public static Par2Names Start(ProviderHost providers, IReadOnlyList<PostedFile> indexes, TimeProvider time) => new(providers, indexes, time);

    public int Count { get; }

    public bool IsDone => _reading.IsCompleted;

    /// <summary>The names; empty until the indexes are read, or if they are unreadable.</summary>
    public Par2Matcher Known => _known;

    /// <summary>Waits for the indexes until <see cref="Timeout"/> after the start of the reads. Empty if they are late or unreadable.</summary>
    public async Task<Par2Matcher> WaitAsync(CancellationToken cancellationToken)
    {
        var left = Timeout - _time.GetElapsedTime(_began);
        try
        {
            return await _reading.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, _time, cancellationToken);
        }
        catch (Exception e) when (e is TimeoutException || IsUnreadable(e))
        {
            return Nothing;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync();
        try
        {
            await _reading;
        }
        catch (Exception e) when (e is OperationCanceledException || IsUnreadable(e))
        {
            // The names are optional.
        }

        _ending.Dispose();
    }

    private static bool IsUnreadable(Exception failure) => failure is NntpException or IOException;

    private async Task<Par2Matcher> ReadAsync(ProviderHost providers, IReadOnlyList<PostedFile> files)
    {
        var indexes = await Task.WhenAll(files.Select(file => ReadAsync(providers, file)));
        return _known = new Par2Matcher(indexes.OfType<Par2Index>());
    }

    private async Task<Par2Index?> ReadAsync(ProviderHost providers, PostedFile file)
    {
        await using var stream = providers.Engine.Open([FileExtent.Whole(file)], OperationLane.Import);
        var reader = new Par2IndexReader(file.Map.Length, async (offset, buffer, token) =>
        {
            stream.Position = offset;
            await stream.ReadExactlyAsync(buffer, token);
        });
        try
        {
            return await reader.ReadAsync(_ending.Token);
        }
        catch (Exception e) when (IsUnreadable(e))
        {
            // The data before the damage can still name files.
            return reader.Index;
        }
    }
}
