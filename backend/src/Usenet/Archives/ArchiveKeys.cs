namespace Sluice.Usenet.Archives;

/// <summary>The ways in which formats turn a password into a key.</summary>
public enum KeyScheme
{
    /// <summary>RAR 2.9 to 4: 2^18 rounds of SHA-1 give AES-128 key and initial vector.</summary>
    Rar4,

    /// <summary>RAR 5: PBKDF2 with HMAC-SHA-256 gives an AES-256 key.</summary>
    Rar5,

    /// <summary>RAR 5: 32 rounds more, folded to 8 bytes, give the value that a password is checked with. A wrong password costs no key.</summary>
    Rar5Check,

    /// <summary>7z: 2^n rounds of SHA-256 give an AES-256 key.</summary>
    SevenZip,
}

/// <summary>A question for a key.</summary>
/// <param name="Scheme">The way.</param>
/// <param name="Password">The password as it was given.</param>
/// <param name="Salt">The salt of the archive in hexadecimal digits, so that equal questions are equal; empty where it has none.</param>
/// <param name="RoundsLog2">Number of rounds as a power of two, at most 20 (7z: 63 stands for none); of no meaning for RAR 4.</param>
public readonly record struct KeyRequest(KeyScheme Scheme, string Password, string Salt, int RoundsLog2);

/// <summary>A derived key.</summary>
/// <param name="Key">16 or 32 bytes; empty for a check value alone.</param>
/// <param name="Iv">The initial vector where the scheme derives it (RAR 4), else empty.</param>
/// <param name="Check">The 8 bytes that a check value of RAR 5 is compared with, else empty.</param>
public sealed record DerivedKey(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Iv, ReadOnlyMemory<byte> Check);

/// <summary>Derives keys. A seam, because honest derivation takes 10 ms and more.</summary>
/// <remarks>Thread-safe and without side effects.</remarks>
public interface IKeyDeriver
{
    /// <summary>Derives a key.</summary>
    /// <exception cref="ArchiveException">The rounds are more than the scheme may have.</exception>
    DerivedKey Derive(KeyRequest request);
}

/// <summary>The passwords of one release, and the keys that were derived from them.</summary>
/// <remarks>
/// Thread-safe. Each key is derived once, outside the lock, on the thread that asks for it first; other threads that ask for the same key wait.
/// All derivations of a release together are bounded in rounds and not in salts, because a season of 24 encrypted sets has 24 salts (IMP-57).
/// </remarks>
/// <param name="passwords">What is tried, in this order; may be empty.</param>
/// <param name="deriver">Derives.</param>
/// <param name="maxRounds">Rounds of PBKDF2 that all keys together may cost.</param>
public sealed class ArchiveKeys(IReadOnlyList<string> passwords, IKeyDeriver deriver, long maxRounds = ArchiveKeys.MaxRounds)
{
    /// <summary>2^22 rounds, 1 to 3 s of one processor: some 60 sets of RAR 5 with the usual 2^15 rounds and salts of their own.</summary>
    public const long MaxRounds = 1 << 22;

    // Guards _known, _rounds and _lastSearch. Nothing is derived under it.
    private readonly Lock _gate = new();
    private readonly Dictionary<KeyRequest, Lazy<DerivedKey>> _known = [];
    private long _rounds;

    // Written whole: of two passwords that fit at once either may go first.
    private volatile string? _fitted;

    // One search at a time until a password fits: parallel sets would each try all wrong ones. Each waits for the one before.
    private Task _lastSearch = Task.CompletedTask;

    /// <summary>What is tried, in this order: the one that fitted last, then the others as they were given.</summary>
    public IReadOnlyList<string> Passwords =>
        _fitted is { } fitted && fitted != passwords[0] ? [fitted, .. passwords.Where(other => other != fitted)] : passwords;

    /// <summary>Rounds that all keys so far have cost.</summary>
    public long Rounds
    {
        get
        {
            lock (_gate)
                return _rounds;
        }
    }

    /// <summary>Returns the key of a question.</summary>
    /// <exception cref="ArchiveException">The scheme or the release may not have that many rounds.</exception>
    public DerivedKey Get(KeyRequest request)
    {
        Lazy<DerivedKey>? key;
        lock (_gate)
        {
            if (!_known.TryGetValue(request, out key))
            {
                var cost = KeyDeriver.CostOf(request);
                if (cost > maxRounds - _rounds)
                    throw new ArchiveException(ArchiveFault.Unsupported, "the keys of the release take too long to derive");
                _rounds += cost;
                _known.Add(request, key = new Lazy<DerivedKey>(() => deriver.Derive(request)));
            }
        }

        return key.Value;
    }

    /// <summary>Notes that a password fits: other archives of the release try it first.</summary>
    public void Prefer(string password) => _fitted = password;

    /// <summary>Runs a search for the password of an archive: alone until one has fitted, beside others from then on.</summary>
    internal async Task<T> SearchAsync<T>(Func<Task<T>> search, CancellationToken cancellationToken)
    {
        if (_fitted is not null)
            return await search();
        Task before;
        var own = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_gate)
            (before, _lastSearch) = (_lastSearch, own.Task);
        try
        {
            await before.WaitAsync(cancellationToken);
            if (_fitted is not null)
                own.SetResult();
            return await search();
        }
        finally
        {
            own.TrySetResult();
        }
    }
}
