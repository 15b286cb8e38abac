using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Who has lied: for a day a file in which an article was corrupt, and an account for as long as more than one in a thousand of
/// its articles was.
/// </summary>
/// <remarks>Thread-safe. Bounded: of very many files with lies the one whose lie is oldest is trusted again first.</remarks>
internal sealed class TrustMemory(TimeProvider time)
{
    private readonly Lock _gate = new();

    // The last lie of each file, the oldest in front.
    private readonly LinkedList<Lie> _byAge = new();
    private readonly Dictionary<object, LinkedListNode<Lie>> _lies = [];

    // Names of files whose last lie has not been taken for storing; all of them are in _lies.
    private readonly HashSet<string> _untaken = [];

    // One for each account that the settings have named.
    private readonly Dictionary<Guid, ProviderTrust> _providers = [];

    /// <summary>Whether a file has told no lie of late.</summary>
    public bool IsTrusted(FileOrigin file)
    {
        lock (_gate)
            return !_lies.TryGetValue(file.Identity, out var lie) || time.GetElapsedTime(lie.Value.At) >= RememberedLie.Counts;
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
            if (_lies.TryGetValue(file.Identity, out var before))
                _byAge.Remove(before);
            _lies[file.Identity] = _byAge.AddLast(new Lie(file.Identity, time.GetTimestamp()));
            if (file.LastingName is { } name)
                _untaken.Add(name);
            ForgetOldest();
        }
    }

    /// <summary>Takes out what is new since the last call, of files that are known after a restart.</summary>
    public IReadOnlyList<RememberedLie> TakeNew()
    {
        lock (_gate)
        {
            RememberedLie[] lies = [.. _untaken.Select(name => new RememberedLie(name, time.WallTimeOf(_lies[name].Value.At)))];
            _untaken.Clear();
            return lies;
        }
    }

    /// <summary>Takes in what an earlier run has stored. What this one knows already stands.</summary>
    public void Restore(IEnumerable<RememberedLie> lies)
    {
        lock (_gate)
        {
            var (now, utc) = (time.GetTimestamp(), time.WallTime());
            foreach (var lie in lies.OrderByDescending(lie => lie.At))
            {
                var age = utc - lie.At;
                if (age >= RememberedLie.Counts || _lies.ContainsKey(lie.File))
                    continue;
                if (age < TimeSpan.Zero)
                {
                    // The clock of the wall was ahead then: from now on the lie is one of today, and stored as such.
                    age = TimeSpan.Zero;
                    _untaken.Add(lie.File);
                }

                _lies[lie.File] = _byAge.AddFirst(new Lie(lie.File, now - (long)(age.TotalSeconds * time.TimestampFrequency)));
            }

            ForgetOldest();
        }
    }

    private void ForgetOldest()
    {
        while (_byAge.First is { Value: var oldest }
            && (_byAge.Count > RememberedLie.MostFiles || time.GetElapsedTime(oldest.At) >= RememberedLie.Counts))
        {
            _byAge.RemoveFirst();
            _lies.Remove(oldest.File);
            if (oldest.File is string name)
                _untaken.Remove(name);
        }
    }

    private readonly record struct Lie(object File, long At);
}
