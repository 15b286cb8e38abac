using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Reads the PAR2 indexes of a release beside its other steps (IMP-20, IMP-40): nothing waits for them but names, and an order of volumes that
/// nothing else tells.
/// </summary>
/// <remarks>Thread-safe. Owns what it fetches, which ends with it.</remarks>
internal sealed class Par2Names : IAsyncDisposable
{
    /// <summary>Most indexes that are read of a release: each set has one.</summary>
    public const int Most = 100;

    /// <summary>How long names wait for them, in all.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    private static readonly Par2Matcher Nothing = new([]);

    private readonly CancellationTokenSource _ending = new();
    private readonly Task<Par2Matcher> _reading;
    private volatile Par2Matcher _known = Nothing;
    private readonly TimeProvider _time;
    private readonly long _began;

    private Par2Names(ProviderHost providers, IReadOnlyList<PostedFile> indexes, TimeProvider time)
    {
        (_time, _began) = (time, time.GetTimestamp());
        Count = Math.Min(indexes.Count, Most);
        _reading = indexes.Count == 0 ? Task.FromResult(Nothing) : ReadAsync(providers, [.. indexes.Take(Most)]);
    }

    /// <summary>Begins to read.</summary>
    /// <param name="providers">Where articles come from.</param>
    /// <param name="indexes">The files; their ids are valid until it is disposed.</param>
    /// <param name="time">The clock of the wait.</param>
    public static Par2Names Start(ProviderHost providers, IReadOnlyList<PostedFile> indexes, TimeProvider time) => new(providers, indexes, time);

    /// <summary>Indexes that are read.</summary>
    public int Count { get; }

    /// <summary>Whether there is nothing to wait for.</summary>
    public bool IsDone => _reading.IsCompleted;

    /// <summary>What is known now; nothing as long as the indexes are being read, and where they cannot be.</summary>
    public Par2Matcher Known => _known;

    /// <summary>Waits for the indexes, at most until <see cref="Patience"/> after their start.</summary>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns><see cref="Known"/> then.</returns>
    public async Task<Par2Matcher> WaitAsync(CancellationToken cancellationToken)
    {
        var left = Patience - _time.GetElapsedTime(_began);
        try
        {
            return await _reading.WaitAsync(left > TimeSpan.Zero ? left : TimeSpan.Zero, _time, cancellationToken);
        }
        catch (Exception e) when (e is TimeoutException || IsUnreadable(e))
        {
            return Nothing;
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync();
        try
        {
            await _reading;
        }
        catch (Exception e) when (e is OperationCanceledException || IsUnreadable(e))
        {
            // A release is named without them.
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
            // What was read before the damage names files too.
            return reader.Index;
        }
    }
}
