using System.Security.Cryptography;

namespace Sluice.Server.Auth;

/// <summary>The generated WebDAV password while it may be shown. Only its hash is stored.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class MadePassword
{
    // No ambiguous letters or digits, because people type this on a television.
    private const string Alphabet = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    private const int Length = 20;

    private volatile string? _password;

    /// <summary>The password; null if none was generated or it is no longer shown.</summary>
    public string? Password => _password;

    /// <summary>Generates a password. It may be shown once it is saved.</summary>
    public static string Make() => RandomNumberGenerator.GetString(Alphabet, Length);

    public void Show(string password) => _password = password;

    /// <summary>Ends the display of the password, when the user leaves the setup.</summary>
    public void Forget() => _password = null;
}
