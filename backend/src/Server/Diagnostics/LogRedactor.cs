using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.RegularExpressions;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Takes secrets out of text by their value, whichever source wrote it (S4, CFG-54), and passwords out of names of NZBs by their form
/// (SAB-27): the last thing that happens to a line before it leaves the process. Secrets are those of the settings, and what
/// <see cref="Hide"/> was told.
/// </summary>
/// <remarks>Thread-safe; follows the settings.</remarks>
internal sealed partial class LogRedactor
{
    private const string Mask = "********";

    // Shorter values occur in ordinary words, and masking those would make a log unreadable and the value guessable.
    private const int MinLength = 4;

    private static readonly SearchValues<string> NameMarks = SearchValues.Create(["{{", "%7B%7B", "password"], StringComparison.OrdinalIgnoreCase);

    private readonly SettingsSource _settings;

    // Guards the writing of _others, which is replaced as a whole.
    private readonly Lock _gate = new();
    private volatile string[] _others = [];
    private volatile Secrets _secrets;

    /// <summary>Starts with the secrets in force.</summary>
    public LogRedactor(SettingsSource settings)
    {
        _settings = settings;
        _secrets = Collect(settings.Current, _others);
    }

    /// <summary>Masks a secret that no setting holds, from now on and as long as the process runs.</summary>
    public void Hide(string secret)
    {
        lock (_gate)
            _others = [.. _others, secret];
    }

    /// <summary>The text with every secret masked.</summary>
    public string Redact(string text)
    {
        var secrets = _secrets;
        // Compared at every line, not by a change callback: another callback may log new secrets before that of the redactor runs.
        if (secrets.Source != _settings.Current || secrets.Others != _others)
            _secrets = secrets = Collect(_settings.Current, _others);
        if (text.AsSpan().ContainsAny(secrets.Any))
        {
            foreach (var secret in secrets.Ordered)
                text = text.Replace(secret, Mask, StringComparison.Ordinal);
        }

        return text.AsSpan().ContainsAny(NameMarks) ? NamePassword().Replace(text, "${before}" + Mask) : text;
    }

    /// <summary><c>name{{pw}}.nzb</c> and <c>name password=pw.nzb</c>, as they are and as they stand in a URL.</summary>
    [GeneratedRegex(
        @"(?<before>\{\{|%7B%7B).*?(?=\}\}|%7D%7D)|(?<before>password(=|%3D))(.*?(?=\.(nzb|zip|gz|bz2)\b)|[^/&\s""]+)",
        RegexOptions.IgnoreCase | RegexOptions.CultureInvariant)]
    private static partial Regex NamePassword();

    private static Secrets Collect(EffectiveSettings settings, string[] others)
    {
        var secrets = settings.All
            .Where(setting => setting.Definition.Secret)
            .SelectMany(ValuesOf)
            .Concat(others)
            .SelectMany(Spellings)
            .Where(secret => secret.Length >= MinLength)
            .Distinct()
            // The longest first: a secret may be part of another.
            .OrderByDescending(secret => secret.Length)
            .ToArray();
        return new Secrets(settings, others, secrets, SearchValues.Create(secrets, StringComparison.Ordinal));
    }

    private static IEnumerable<string> ValuesOf(EffectiveSetting setting)
    {
        if (setting.Definition.Type == SettingType.LineList)
            return SettingText.ReadList(setting.Value) ?? [];
        if (setting.Definition.Type != SettingType.Json)
            return [setting.Value];

        // A value in force has been parsed before.
        using var document = JsonDocument.Parse(setting.Value);
        return SecretLeaves(document.RootElement).ToList();
    }

    /// <summary>Every value under the name of a secret, also where a name stands twice and one of them is not used.</summary>
    private static IEnumerable<string> SecretLeaves(JsonElement node) => node.ValueKind switch
    {
        JsonValueKind.Object => node.EnumerateObject().SelectMany(SecretLeaves),
        JsonValueKind.Array => node.EnumerateArray().SelectMany(SecretLeaves),
        _ => [],
    };

    private static IEnumerable<string> SecretLeaves(JsonProperty property)
    {
        if (property.Value.ValueKind is JsonValueKind.Object or JsonValueKind.Array)
            return SecretLeaves(property.Value);
        if (JsonText.NameOf(property) is not { } name || !IsSecretName(name))
            return [];

        // A string that cannot be decoded cannot occur in a line.
        var secret = property.Value.ValueKind == JsonValueKind.String ? JsonText.Of(property.Value) : property.Value.GetRawText();
        return secret is null ? [] : [secret];
    }

    private static bool IsSecretName(string name) =>
        name.ToUpperInvariant() is "USER" or "PASS" or "PASSWORD" or "APIKEY" or "SECRET";

    /// <summary>A secret may be written as it is, as part of a URL or as part of JSON.</summary>
    private static IEnumerable<string> Spellings(string secret) =>
        [secret, Uri.EscapeDataString(secret), JavaScriptEncoder.Default.Encode(secret)];

    /// <summary>The secrets of some settings, all at once and one by one.</summary>
    private sealed record Secrets(EffectiveSettings Source, string[] Others, string[] Ordered, SearchValues<string> Any);
}
