using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Takes secrets out of text by their value, whoever wrote it (S4, CFG-54): the last thing that happens to a line before it
/// leaves the process.
/// </summary>
/// <remarks>Thread-safe; follows the settings.</remarks>
internal sealed class LogRedactor : IDisposable
{
    private const string Mask = "********";

    // Shorter values occur in ordinary words, and masking those would make a log unreadable and the value guessable.
    private const int MinLength = 4;

    private readonly SettingsConfiguration _settings;
    private readonly IDisposable _watch;
    private volatile SearchValues<string> _secrets;
    private volatile string[] _ordered = [];

    /// <summary>Starts with the secrets in force.</summary>
    public LogRedactor(SettingsConfiguration settings)
    {
        _settings = settings;
        _secrets = Collect();
        _watch = ChangeToken.OnChange(settings.GetReloadToken, () => _secrets = Collect());
    }

    /// <summary>The text with every secret masked.</summary>
    public string Redact(string text)
    {
        if (!text.AsSpan().ContainsAny(_secrets))
            return text;

        foreach (var secret in _ordered)
            text = text.Replace(secret, Mask, StringComparison.Ordinal);
        return text;
    }

    /// <inheritdoc/>
    public void Dispose() => _watch.Dispose();

    private SearchValues<string> Collect()
    {
        var secrets = _settings.Current.All
            .Where(setting => setting.Definition.Secret)
            .SelectMany(ValuesOf)
            .SelectMany(Spellings)
            .Where(secret => secret.Length >= MinLength)
            .Distinct()
            // The longest first: a secret may be part of another.
            .OrderByDescending(secret => secret.Length)
            .ToArray();
        _ordered = secrets;
        return SearchValues.Create(secrets, StringComparison.Ordinal);
    }

    private static IEnumerable<string> ValuesOf(EffectiveSetting setting)
    {
        if (setting.Definition.Type != SettingType.Json)
            return [setting.Value];

        try
        {
            return SecretLeaves(JsonNode.Parse(setting.Value)).ToList();
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            // What cannot be read holds no provider that anything is sent to.
            return [];
        }
    }

    private static IEnumerable<string> SecretLeaves(JsonNode? node) => node switch
    {
        JsonObject item => item.SelectMany(property => property.Value is JsonValue value && IsSecretName(property.Key)
            ? [value.ToString()]
            : SecretLeaves(property.Value)),
        JsonArray list => list.SelectMany(SecretLeaves),
        _ => [],
    };

    private static bool IsSecretName(string name) =>
        name.ToUpperInvariant() is "USER" or "PASS" or "PASSWORD" or "APIKEY" or "SECRET";

    /// <summary>A secret may be written as it is, as part of a URL or as part of JSON.</summary>
    private static IEnumerable<string> Spellings(string secret) =>
        [secret, Uri.EscapeDataString(secret), JavaScriptEncoder.Default.Encode(secret)];
}
