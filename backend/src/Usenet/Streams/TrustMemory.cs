namespace Sluice.Usenet.Streams;

/// <summary>
/// Who has lied: for a day a file in which an article was corrupt, and an account for as long as more than one in a thousand of
/// its articles was.
/// </summary>
/// <remarks>Thread-safe. Bounded: of very many files with lies the one whose lie is oldest is trusted again first.</remarks>
internal sealed class TrustMemory(TimeProvider time)
{
    private const int MostFiles = 10_000;
    private static readonly TimeSpan Withdrawn = TimeSpan.FromHours(24);

    private readonly Lock _gate = new();
    private readonly Dictionary<FileOrigin, long> _lies = [];
    private readonly Queue<(FileOrigin File, long At)> _byAge = new();

    // One for each account that the settings have named.
    private readonly Dictionary<Guid, ProviderTrust> _providers = [];

    /// <summary>Whether a file has told no lie of late.</summary>
    public bool IsTrusted(FileOrigin file)
    {
        lock (_gate)
            return !_lies.TryGetValue(file, out var at) || time.GetElapsedTime(at) >= Withdrawn;
    }

    /// <summary>Whether an account has told hardly any.</summary>
    public bool IsTrusted(Guid provider)
    {
        lock (_gate)
            return !_providers.TryGetValue(provider, out var trust) || trust.IsTrusted;
    }

    /// <summary>An article has been judged.</summary>
    public void Judged(FileOrigin file, Guid provider, bool isCorrupt)
    {
        lock (_gate)
        {
            if (!_providers.TryGetValue(provider, out var trust))
                _providers[provider] = trust = new ProviderTrust();
            trust.Judged(isCorrupt);
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
