using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>The passwords of one RAR archive, and which of them fits (IMP-57).</summary>
/// <remarks>
/// <para>
/// A password is proved by the check value of an encrypted header or file (RAR 5), or by the checksum of an encrypted header. Both are done here.
/// Where there is neither, as in files of RAR 4 whose headers are readable, <see cref="Decide"/> answers null, and the caller decides: for each of
/// <see cref="Candidates"/> it decrypts the first block of the file with <see cref="CipherOf"/>, and tells <see cref="Settle"/> which one gave
/// the beginning of such a file. Then <see cref="RarSet.Join"/> takes that one.
/// </para>
/// <para>Thread-safe. Deriving a key takes the thread up to 500 ms, once for each password, salt and number of rounds.</para>
/// </remarks>
/// <param name="keys">The passwords of the release, and the keys derived so far.</param>
public sealed class RarPasswords(ArchiveKeys keys)
{
    // A reference is written whole, and whichever of two fitting ones remains is right.
    private volatile string? _settled;

    /// <summary>What may fit: first the password that fitted in this archive, then the one that fitted in another archive of the release.</summary>
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

    /// <summary>Remembers a password that fits: for all of the archive where nothing else decides.</summary>
    public void Settle(string password)
    {
        _settled = password;
        keys.Prefer(password);
    }

    /// <summary>The error of an archive that no candidate opens.</summary>
    public static ArchiveException NoneFits() => new(ArchiveFault.WrongPassword, "no password fits");

    /// <summary>The password of headers or a file.</summary>
    /// <returns>
    /// The one whose check value is right; without a check value the one that was settled before; null where nothing was: the caller has to
    /// settle one.
    /// </returns>
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

    /// <summary>Runs a search for the password, alone while no password of the release has fitted.</summary>
    internal Task<T> SearchAsync<T>(Func<Task<T>> search, CancellationToken cancellationToken) => keys.SearchAsync(search, cancellationToken);

    /// <summary>What decrypts a file if the password is right.</summary>
    /// <exception cref="ArchiveException">The key takes too long to derive.</exception>
    public StreamCipher CipherOf(RarEncryption encryption, string password)
    {
        var key = KeyOf(encryption, password);
        return new StreamCipher(key.Key, encryption.Scheme == KeyScheme.Rar4 ? key.Iv : encryption.Iv);
    }

    /// <summary>The key of headers or a file if the password is right.</summary>
    internal DerivedKey KeyOf(RarEncryption encryption, string password) => keys.Get(encryption.Request(password));
}
