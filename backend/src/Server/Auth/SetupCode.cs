using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>
/// The setup code proves access to the log or the data folder (S7). A file keeps it across restarts until there is an administrator.
/// </summary>
/// <remarks>Thread-safe after <see cref="Begin"/>.</remarks>
internal sealed class SetupCode(DataFolder folder, ProcessOptions process, LogRedactor redactor)
{
    // No ambiguous letters or digits.
    private const string Alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    private const int Half = 4;

    private volatile string? _code;

    /// <summary>The code, such as <c>K7QF-2M9X</c>; null if none is required.</summary>
    public string? Current => _code;

    private string Path => System.IO.Path.Combine(folder.Root, "setup-code");

    /// <summary>Takes the code from the environment or an earlier start, or generates one.</summary>
    public void Begin()
    {
        var code = process.SetupCode ?? Read() ?? $"{RandomNumberGenerator.GetString(Alphabet, Half)}-{RandomNumberGenerator.GetString(Alphabet, Half)}";
        // The API returns log lines, and API access must not include the setup.
        redactor.Hide(code);
        Write(code);
        _code = code;
    }

    /// <summary>Removes the code once there is an administrator.</summary>
    public void End()
    {
        _code = null;
        File.Delete(Path);
    }

    /// <summary>Whether a text is the code, ignoring dashes, spaces and case.</summary>
    public bool Is(string text) =>
        _code is { } code && CryptographicOperations.FixedTimeEquals(Plain(text), Plain(code));

    private static byte[] Plain(string code) =>
        SHA256.HashData(Encoding.UTF8.GetBytes(new string([.. code.Where(char.IsLetterOrDigit).Select(char.ToUpperInvariant)])));

    private string? Read() =>
        File.Exists(Path) && File.ReadAllText(Path).Trim() is { Length: 9 } code && ProcessOptions.IsSetupCode(code) ? code : null;

    private void Write(string code)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        // Delete first, because an existing file would keep its mode, which may be too open.
        File.Delete(Path);
        using var file = new StreamWriter(Path, options);
        file.Write(code + "\n");
    }
}
