using System.Security.Cryptography;

namespace Sluice.Server.Auth;

/// <summary>The WebDAV password that this process has made, as long as it may be shown: it is stored as a hash only.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class MadePassword
{
    // Without letters and digits that look alike: people will type this into a television.
    private const string Alphabet = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    private const int Length = 20;

    private volatile string? _password;

    /// <summary>The password; null when none was made, or when it is not shown any more.</summary>
    public string? Password => _password;

    /// <summary>Makes one; it can be shown once it is saved.</summary>
    public static string Make() => RandomNumberGenerator.GetString(Alphabet, Length);

    /// <summary>Lets a saved password be shown.</summary>
    public void Show(string password) => _password = password;

    /// <summary>The setup is left: the password is not shown again.</summary>
    public void Forget() => _password = null;
}
