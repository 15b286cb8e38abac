using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>The candidate passwords of one RAR archive, and the password that fits (IMP-57).</summary>
/// <remarks>
/// <para>
/// A password is verified by the check value of encrypted headers or files (RAR 5), or by the checksum of an encrypted header. Without either, as for RAR 4
/// files with plain headers, <see cref="Decide"/> returns null. Then the caller decrypts the start of the file with <see cref="CipherOf"/> for each of
/// <see cref="Candidates"/>, and passes the password that gave a plausible start to <see cref="Settle"/>. <see cref="RarSet.Join"/> then uses this password.
/// </para>
/// <para>Thread-safe. Deriving a key blocks for up to 500 ms, once for each password, salt and number of rounds.</para>
/// </remarks>
/// <param name="keys">The passwords of the release and their derived keys.</param>
public sealed class RarPasswords(ArchiveKeys keys)
{
    // No lock: reference writes are atomic, and if two passwords fit either is right.
    private volatile string? _settled;

    /// <summary>The passwords to try: first the password that fits this archive, then one that fits another archive in the release, then the rest.</summary>
    /// <exception cref="ArchiveException">No password was given.</exception>
    public IReadOnlyList<string> Candidates
    {
        get
        {
            if (keys.Passwords.Count == 0)
                throw new ArchiveException(ArchiveFault.NoPassword, "no password was given");
            return _settled is { } settled ? [settled, .. keys.Passwords.Where(password => password != settled)] : keys.Passwords;
        }
    }

    /// <summary>Records a password that fits, for all parts of the archive without a check value.</summary>
    public void Settle(string password)
    {
        _settled = password;
        keys.Prefer(password);
    }

    public static ArchiveException NoneFits() => new(ArchiveFault.WrongPassword, "no password fits");

    /// <summary>Returns the password for headers or a file.</summary>
    /// <returns>The password that matches the check value; without one, the password passed to <c>Settle</c>; null if there is none yet.</returns>
    /// <exception cref="ArchiveException">No password was given, none fits, or a key takes too long to derive.</exception>
    public string? Decide(RarEncryption encryption)
    {
        var candidates = Candidates;
        if (encryption.Check.IsEmpty)
            return _settled;

        foreach (var password in candidates)
        {
            if (!keys.Get(encryption.CheckRequest(password)).Check.Span.SequenceEqual(encryption.Check.Span))
                continue;
            Settle(password);
            return password;
        }

        throw NoneFits();
    }

    /// <summary>Runs a password search: one at a time until a password of the release has fit.</summary>
    internal Task<T> SearchAsync<T>(Func<Task<T>> search, CancellationToken cancellationToken) => keys.SearchAsync(search, cancellationToken);

    /// <summary>Returns the cipher of a file for a password, whether or not the password is right.</summary>
    /// <exception cref="ArchiveException">The key takes too long to derive.</exception>
    public StreamCipher CipherOf(RarEncryption encryption, string password)
    {
        var key = KeyOf(encryption, password);
        return new StreamCipher(key.Key, encryption.Scheme == KeyScheme.Rar4 ? key.Iv : encryption.Iv);
    }

    internal DerivedKey KeyOf(RarEncryption encryption, string password) => keys.Get(encryption.Request(password));
}
