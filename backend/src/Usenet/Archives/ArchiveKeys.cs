namespace Sluice.Usenet.Archives;

/// <summary>How a format derives a key from a password.</summary>
public enum KeyScheme
{
    /// <summary>RAR 2.9 to 4: 2^18 rounds of SHA-1 yield the AES-128 key and the initialization vector.</summary>
    Rar4,

    /// <summary>RAR 5: PBKDF2 with HMAC-SHA-256 yields an AES-256 key.</summary>
    Rar5,

    /// <summary>RAR 5: 32 more rounds, folded to 8 bytes, yield a check value that detects a wrong password without decrypting.</summary>
    Rar5Check,

    /// <summary>7z: 2^n rounds of SHA-256 yield an AES-256 key.</summary>
    SevenZip,
}

/// <summary>Identifies a key to derive. Equal requests yield equal keys.</summary>
/// <param name="Salt">The archive's salt as hexadecimal digits, so that requests compare by value; empty if there is none.</param>
/// <param name="RoundsLog2">Binary logarithm of the rounds, at most 20 (7z: 63 means no rounds); ignored for RAR 4.</param>
public readonly record struct KeyRequest(KeyScheme Scheme, string Password, string Salt, int RoundsLog2);

/// <summary>A 16- or 32-byte key, the RAR 4 initialization vector, or the 8-byte RAR 5 check value. Values not derived are empty.</summary>
public sealed record DerivedKey(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Iv, ReadOnlyMemory<byte> Check);

/// <summary>Derives keys. Tests replace it, because real derivation takes 10 ms or more. Thread-safe and without side effects.</summary>
public interface IKeyDeriver
{
    /// <exception cref="ArchiveException">The request has more rounds than its scheme allows.</exception>
    DerivedKey Derive(KeyRequest request);
}

/// <summary>The passwords of one release and the keys derived from them.</summary>
/// <remarks>
/// Thread-safe. The first thread to request a key derives it outside the lock; other threads that request the same key wait. The limit applies to rounds, not
/// to salts, because a season of 24 encrypted sets has 24 salts (IMP-57).
/// </remarks>
public sealed class ArchiveKeys(IReadOnlyList<string> passwords, IKeyDeriver deriver, long maxRounds = ArchiveKeys.MaxRounds)
{
    /// <summary>2^22 rounds take one core 1 to 3 s, and suffice for about 60 RAR 5 sets with distinct salts and the usual 2^15 rounds.</summary>
    public const long MaxRounds = 1 << 22;

    // Guards _known, _rounds and _lastSearch. No key is derived while it is held.
    private readonly Lock _gate = new();
    private readonly Dictionary<KeyRequest, Lazy<DerivedKey>> _known = [];
    private long _rounds;

    // No lock: reference writes are atomic, and if two passwords fit at once either may win.
    private volatile string? _fitted;

    // One search at a time until a password fits, because parallel searches would each try every wrong password. Each waits for the previous one.
    private Task _lastSearch = Task.CompletedTask;

    /// <summary>The passwords to try: the last password that fit, then the others in the given order.</summary>
    public IReadOnlyList<string> Passwords =>
        _fitted is { } fitted && fitted != passwords[0] ? [fitted, .. passwords.Where(other => other != fitted)] : passwords;

    public long Rounds
    {
        get
        {
            lock (_gate)
                return _rounds;
        }
    }

    /// <summary>Returns a key, deriving it on first use.</summary>
    /// <exception cref="ArchiveException">The scheme or the release exceeds its round limit.</exception>
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

    /// <summary>Records a password that fits, so that other archives of the release try it first.</summary>
    public void Prefer(string password) => _fitted = password;

    /// <summary>Runs a password search: one at a time until a password has fit, in parallel after that.</summary>
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
