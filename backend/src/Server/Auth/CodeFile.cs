using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>
/// A code such as <c>K7QF-2M9X</c>, which proves access to the log or data folder (S7). A file keeps it until <see cref="End"/>. Stored log lines mask the
/// code, because the API returns them. Thread-safe after <see cref="Begin"/>.
/// </summary>
internal sealed class CodeFile(string path, LogRedactor redactor)
{
    // No ambiguous letters or digits, because people type it.
    private const string Alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    private const int Half = 4;

    private volatile string? _code;

    /// <summary>The code; null if none is required.</summary>
    public string? Current => _code;

    /// <summary>Uses the given code. Otherwise uses the stored code if <paramref name="continues"/> is true, or generates one.</summary>
    public string Begin(string? given, bool continues)
    {
        var code = given ?? (continues ? Read() : null) ?? $"{RandomNumberGenerator.GetString(Alphabet, Half)}-{RandomNumberGenerator.GetString(Alphabet, Half)}";
        // Hide the code from the log API, because access to the API must not include the access that the code grants.
        redactor.Hide(code);
        Write(code);
        return _code = code;
    }

    /// <summary>Removes the code.</summary>
    public void End()
    {
        _code = null;
        File.Delete(path);
    }

    /// <summary>Whether a string equals the code, ignoring dashes, spaces and case.</summary>
    public bool Is(string text) => _code is { } code && CryptographicOperations.FixedTimeEquals(Plain(text), Plain(code));

    private static byte[] Plain(string code) =>
        SHA256.HashData(Encoding.UTF8.GetBytes(new string([.. code.Where(char.IsLetterOrDigit).Select(char.ToUpperInvariant)])));

    private string? Read() =>
        File.Exists(path) && File.ReadAllText(path).Trim() is { Length: 9 } code && ProcessOptions.IsSetupCode(code) ? code : null;

    private void Write(string code)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        // Delete an existing file first, because it would keep its mode, which may be too permissive.
        File.Delete(path);
        using var file = new StreamWriter(path, options);
        file.Write(code + "\n");
    }
}
