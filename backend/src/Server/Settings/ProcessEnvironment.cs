using System.Collections;

namespace Sluice.Server.Settings;

/// <summary>Environment variables. An empty variable counts as absent, and <c>NAME_FILE</c> names a file that contains the value (CFG-3, CFG-4).</summary>
/// <remarks>Not thread-safe, because reading collects warnings. Only the startup thread uses it.</remarks>
internal sealed class ProcessEnvironment(IReadOnlyDictionary<string, string> variables)
{
    private const string FileSuffix = "_FILE";

    // Enough for a key, a password or a JSON value.
    private const int MaxFileBytes = 1 << 20;

    private readonly HashSet<string> _warnings = [];

    /// <summary>Sentences about invalid variables. They omit the values.</summary>
    public IReadOnlyCollection<string> Warnings => _warnings;

    /// <summary>Whether the process started as root and switched to another user.</summary>
    public bool StartedAsRoot { get; set; }

    /// <summary>Names of the variables that are set; <c>NAME_FILE</c> counts as <c>NAME</c>.</summary>
    public IEnumerable<string> Names => variables
        .Where(variable => variable.Value.Length > 0)
        .Select(variable => variable.Key.EndsWith(FileSuffix, StringComparison.Ordinal) ? variable.Key[..^FileSuffix.Length] : variable.Key)
        .Distinct();

    public static ProcessEnvironment OfThisProcess() => new(
        Environment.GetEnvironmentVariables()
            .Cast<DictionaryEntry>()
            .ToDictionary(entry => (string)entry.Key, entry => entry.Value as string ?? ""));

    /// <summary>Returns the value; null if the variable is absent or empty, or its file cannot be read.</summary>
    public string? Get(string name)
    {
        if (variables.TryGetValue(name, out var value) && value.Length > 0)
        {
            if (value is not ['$', '{', .., '}'])
                return value;

            // Ignore it, because old versions of podman-compose leave ${NAME:-} as it is, and the password would be publicly known.
            _warnings.Add($"{name} has no effect, because its value is a variable that was not replaced");
            return null;
        }

        return variables.TryGetValue(name + FileSuffix, out var path) && path.Length > 0 ? ReadFile(name, path) : null;
    }

    /// <summary>Parses a boolean (CFG-4). Any other text counts as false and adds a warning.</summary>
    public bool GetBoolean(string name)
    {
        if (Get(name) is not { } text)
            return false;

        if (SettingText.ReadBoolean(text) is { } value)
            return value;

        _warnings.Add($"{name} is neither true nor false and is taken as false");
        return false;
    }

    /// <summary>Parses an integer. Clamps it to the range, or returns the default for any other text; both add a warning.</summary>
    public long GetNumber(string name, long min, long max, long fallback)
    {
        if (Get(name) is not { } text)
            return fallback;

        if (SettingText.ReadNumber(text) is not { } number)
        {
            _warnings.Add($"{name} is no whole number; using {fallback}");
            return fallback;
        }

        if (number >= min && number <= max)
            return number;

        var bound = number < min ? min : max;
        _warnings.Add($"{name} must be {min} to {max}; using {bound}");
        return bound;
    }

    public void Warn(string sentence) => _warnings.Add(sentence);

    private string? ReadFile(string name, string path)
    {
        try
        {
            using var file = File.OpenRead(path);
            if (file.Length > MaxFileBytes)
            {
                _warnings.Add($"{name}{FileSuffix}: {path} is larger than 1 MiB and is ignored");
                return null;
            }

            using var reader = new StreamReader(file);
            // Strip the line break, because editors and `echo` append one.
            var value = reader.ReadToEnd().TrimEnd('\r', '\n');
            return value.Length > 0 ? value : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException or NotSupportedException)
        {
            _warnings.Add($"{name}{FileSuffix}: {path} cannot be read: {e.Message}");
            return null;
        }
    }
}
