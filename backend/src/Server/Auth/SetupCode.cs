using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>
/// The code of the setup: it proves access to the log or the folder of the server (S7). It stands in a file until there is an
/// administrator, and is the same over restarts.
/// </summary>
/// <remarks>Thread-safe once it has begun.</remarks>
internal sealed class SetupCode(DataFolder folder, ProcessOptions process, LogRedactor redactor)
{
    // Without letters and digits that look alike.
    private const string Alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    private const int Half = 4;

    private volatile string? _code;

    /// <summary>The code, such as <c>K7QF-2M9X</c>; null when none is asked for.</summary>
    public string? Current => _code;

    private string Path => System.IO.Path.Combine(folder.Root, "setup-code");

    /// <summary>Takes the code of the environment or of an earlier start, or makes one.</summary>
    public void Begin()
    {
        var code = process.SetupCode ?? Read() ?? $"{RandomNumberGenerator.GetString(Alphabet, Half)}-{RandomNumberGenerator.GetString(Alphabet, Half)}";
        // Lines of the log leave in answers; those that have the API may not have the setup.
        redactor.Hide(code);
        Write(code);
        _code = code;
    }

    /// <summary>There is an administrator: the code is of no use any more.</summary>
    public void End()
    {
        _code = null;
        File.Delete(Path);
    }

    /// <summary>Whether a text is the code; dashes, spaces and the case are of no matter.</summary>
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
        // A file that is there keeps its mode, which another may have changed.
        File.Delete(Path);
        using var file = new StreamWriter(Path, options);
        file.Write(code + "\n");
    }
}
