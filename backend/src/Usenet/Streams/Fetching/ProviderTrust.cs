namespace Sluice.Usenet.Streams;

/// <summary>Remembers of one provider's last 10,000 articles which were corrupt.</summary>
/// <remarks>Not thread-safe: its owner orders the calls.</remarks>
internal sealed class ProviderTrust
{
    private const int Remembered = 10_000;
    private const int ArticlesPerLie = 1_000;

    private readonly ulong[] _lies = new ulong[(Remembered / 64) + 1];
    private int _next;
    private int _seen;
    private int _corrupt;

    /// <summary>Whether at most one in a thousand was corrupt, of as many as there were.</summary>
    public bool IsTrusted => (long)_corrupt * ArticlesPerLie <= _seen;

    /// <summary>One more article has been judged.</summary>
    public void Judged(bool isCorrupt)
    {
        ref var word = ref _lies[_next / 64];
        var bit = 1UL << (_next % 64);
        if ((word & bit) != 0)
            _corrupt--;
        if (isCorrupt)
            _corrupt++;
        word = isCorrupt ? word | bit : word & ~bit;
        _seen = Math.Min(_seen + 1, Remembered);
        _next = (_next + 1) % Remembered;
    }
}
