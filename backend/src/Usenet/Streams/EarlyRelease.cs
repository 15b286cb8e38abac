using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Decides whether bytes may leave before their article is proved. The trust is withdrawn on the first lie: for a day from a file
/// in which an article was corrupt, and from a provider for as long as more than one in a thousand of its articles was.
/// </summary>
/// <remarks>Thread-safe. Bounded: of very many files with lies the one whose lie is oldest is trusted again first.</remarks>
internal sealed class EarlyRelease(StreamOptions options, TimeProvider time)
{
    private const int MostFiles = 10_000;
    private static readonly TimeSpan Withdrawn = TimeSpan.FromHours(24);

    private readonly Lock _gate = new();
    private readonly Dictionary<FileOrigin, long> _lies = [];
    private readonly Queue<(FileOrigin File, long At)> _byAge = new();
    private readonly ProviderTrust?[] _providers = new ProviderTrust?[ProviderSet.MaxProviders];

    /// <summary>Whether a file's bytes may leave early, as far as the file is concerned.</summary>
    public bool IsTrusted(FileOrigin file)
    {
        if (options.VerifyBeforeServe)
            return false;
        lock (_gate)
            return !_lies.TryGetValue(file, out var at) || time.GetElapsedTime(at) >= Withdrawn;
    }

    /// <summary>Whether a provider's bytes may leave early, as far as the provider is concerned.</summary>
    public bool IsTrusted(int provider)
    {
        lock (_gate)
            return _providers[provider] is not { IsTrusted: false };
    }

    /// <summary>An article has been judged.</summary>
    /// <param name="file">For which it was fetched.</param>
    /// <param name="provider">That delivered it.</param>
    /// <param name="isCorrupt">Whether it was another article, of another length, or damaged.</param>
    public void Judged(FileOrigin file, int provider, bool isCorrupt)
    {
        lock (_gate)
        {
            (_providers[provider] ??= new ProviderTrust()).Judged(isCorrupt);
            if (!isCorrupt)
                return;
            var now = time.GetTimestamp();
            _lies[file] = now;
            _byAge.Enqueue((file, now));
            while (_byAge.Count > MostFiles || time.GetElapsedTime(_byAge.Peek().At, now) >= Withdrawn)
                Forget(_byAge.Dequeue());
        }
    }

    private void Forget((FileOrigin File, long At) oldest)
    {
        // A newer lie of the same file stands.
        if (_lies.TryGetValue(oldest.File, out var at) && at == oldest.At)
            _lies.Remove(oldest.File);
    }
}
