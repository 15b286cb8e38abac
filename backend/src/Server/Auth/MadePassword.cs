using System.Security.Cryptography;

namespace Sluice.Server.Auth;

/// <summary>The generated WebDAV password while it may still be shown, because the database stores only its hash. Thread-safe.</summary>
internal sealed class MadePassword
{
    // No ambiguous letters or digits, because people type it with a TV remote.
    private const string Alphabet = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    private const int Length = 20;

    private volatile string? _password;

    /// <summary>The password; null if none was generated or it must no longer be shown.</summary>
    public string? Password => _password;

    /// <summary>Generates a password. It must not be shown before it is saved.</summary>
    public static string Make() => RandomNumberGenerator.GetString(Alphabet, Length);

    public void Show(string password) => _password = password;

    /// <summary>Stops showing the password once the user has left the setup.</summary>
    public void Forget() => _password = null;
}
