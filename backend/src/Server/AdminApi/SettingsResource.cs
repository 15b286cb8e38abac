using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Auth;
using Sluice.Server.Providers;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/settings</c>: the schema, the effective values, and the latest sets (CFG-11, CFG-12, CFG-16).</summary>
internal static class SettingsResource
{
    // Enough for about sixty settings with long lists.
    private const int MaxImport = 1 << 20;

    public static void MapSettings(this RouteGroupBuilder api)
    {
        var settings = api.MapGroup("/settings");
        settings.MapGet("", List).WithName("ListSettings");
        settings.MapPut("", SaveAsync).WithName("SaveSettings");
        settings.MapGet("/schema", Schema).WithName("ListSettingFields");
        settings.MapDelete("/{key}", ResetAsync).WithName("ResetSetting");
        settings.MapGet("/sets", ListSetsAsync).WithName("ListSettingSets");
        settings.MapPost("/sets/{id}/restore", RestoreAsync).WithName("RestoreSettingSet");
        settings.MapGet("/export", Export).Produces<string>(contentType: "text/plain").WithName("ExportSettings");
        settings.MapPost("/import", ImportAsync).Accepts<string>("text/plain").WithName("ImportSettings");
    }

    private static Ok<SettingFields> Schema(ProcessOptions process) => TypedResults.Ok(new SettingFields([.. SettingSchema.For(process).Select(SettingField.Of)]));

    private static Ok<SettingValues> List(SettingsSource settings, EffectiveValues effective) => TypedResults.Ok(Values(settings, effective));

    private static async Task<Results<Ok<SettingValues>, JsonHttpResult<Problem>>> SaveAsync(
        SettingsSave save,
        HttpContext http,
        SettingsStore store,
        SettingsSource settings,
        EffectiveValues effective,
        AdminStore admins,
        AdminPassword judge,
        CancellationToken cancellationToken)
    {
        if (HasPassword(save.Values) && await PasswordGate.RefuseAsync(http, save.Password, admins, judge, cancellationToken) is { } problem)
            return problem;
        return await SaveUnlockedAsync(save.Values, store, settings, cancellationToken) is { Count: > 0 } errors
            ? AdminProblem.BadInput(errors)
            : TypedResults.Ok(Values(settings, effective));
    }

    private static async Task<Results<Ok<SettingValue>, JsonHttpResult<Problem>>> ResetAsync(
        string key, SettingsStore store, SettingsSource settings, EffectiveValues effective, CancellationToken cancellationToken)
    {
        if (SettingsValidator.Definition(key) is not { } definition)
            return AdminProblem.NotFound("There is no such setting.");
        // A generated value has no default: clients rely on a stable key and cannot connect without a password.
        if (definition.Generated)
            return AdminProblem.WrongState("This value has no default; make a new one instead.");
        return await store.SaveAsync(new Dictionary<string, string?> { [key] = null }, cancellationToken) is { Count: > 0 } errors
            ? AdminProblem.BadInput(errors)
            : TypedResults.Ok(Value(settings.Current[key], effective));
    }

    private static async Task<Ok<SettingsSets>> ListSetsAsync(SettingsStore store, CancellationToken cancellationToken) =>
        TypedResults.Ok(new SettingsSets(
        [
            .. (await store.SetsAsync(cancellationToken)).Select(set =>
                new SettingsSet(set.Id.ToString(CultureInfo.InvariantCulture), set.SavedAt, set.Changed, set.Failed)),
        ]));

    private static async Task<Results<Ok<SettingValues>, JsonHttpResult<Problem>>> RestoreAsync(
        string id, SettingsStore store, SettingsSource settings, EffectiveValues effective, CancellationToken cancellationToken)
    {
        var errors = long.TryParse(id, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? await store.RestoreAsync(number, cancellationToken) : null;
        return errors switch
        {
            null => AdminProblem.NotFound("This version is no longer kept."),
            { Count: > 0 } => AdminProblem.BadInput(errors),
            _ => TypedResults.Ok(Values(settings, effective)),
        };
    }

    /// <summary>Writes all saved values except secrets, one per line.</summary>
    private static ContentHttpResult Export(SettingsSource settings)
    {
        var text = new StringBuilder("# Settings of Sluice, without secrets\n");
        foreach (var setting in settings.Current.All.Where(setting => setting.Origin == SettingOrigin.Saved && setting.Definition is { Secret: false, IsState: false }))
            text.Append(CultureInfo.InvariantCulture, $"{setting.Definition.Key}={setting.Value.ReplaceLineEndings(" ")}\n");
        return TypedResults.Text(text.ToString(), "text/plain", Encoding.UTF8);
    }

    private static async Task<Results<Ok<SettingValues>, JsonHttpResult<Problem>>> ImportAsync(
        HttpContext http, SettingsStore store, SettingsSource settings, EffectiveValues effective, AdminStore admins, AdminPassword judge, CancellationToken cancellationToken)
    {
        if (await ReadTextAsync(http.Request.Body, cancellationToken) is not { } text)
            return AdminProblem.Of(StatusCodes.Status413PayloadTooLarge, "too-large", "A file of settings is not this long.");
        var (values, errors) = (new Dictionary<string, string?>(), new Dictionary<string, string[]>());
        var number = 0;
        foreach (var line in text.ReplaceLineEndings("\n").Split('\n').Select(line => line.Trim()))
        {
            number++;
            if (line.Length == 0 || line.StartsWith('#'))
                continue;
            if (line.IndexOf('=', StringComparison.Ordinal) is not (> 0 and var at))
                errors[$"line {number}"] = ["Must be a key, = and a value."];
            // Skip unchanged values, because the environment may lock them.
            else if (SettingsValidator.Definition(line[..at]) is not { } definition || settings.Current.Text(definition.Key) != line[(at + 1)..])
                values[line[..at]] = line[(at + 1)..];
        }

        if (HasPassword(values) && await PasswordGate.RefuseAsync(http, given: null, admins, judge, cancellationToken) is { } problem)
            return problem;
        if (errors.Count == 0)
            errors = new(await SaveUnlockedAsync(values, store, settings, cancellationToken));
        return errors.Count > 0 ? AdminProblem.BadInput(errors) : TypedResults.Ok(Values(settings, effective));
    }

    /// <summary>Whether the values set the WebDAV password under any of its names.</summary>
    private static bool HasPassword(Dictionary<string, string?> values) => values.Keys.Any(static key => SettingsValidator.Definition(key)?.Key == "webdav.pass");

    /// <summary>Saves all values or none. A setting locked by the environment counts as an error (CFG-3).</summary>
    private static async Task<IReadOnlyDictionary<string, string[]>> SaveUnlockedAsync(
        Dictionary<string, string?> values, SettingsStore store, SettingsSource settings, CancellationToken cancellationToken)
    {
        var locked = values.Keys
            .Where(key => SettingsValidator.Definition(key) is not null && settings.Current[key].Origin == SettingOrigin.Environment)
            .ToDictionary(key => key, key => (string[])[$"Set by the environment variable {settings.Current[key].Variable}. Remove it there to change the value here."]);
        if (locked.Count == 0)
            return await store.SaveAsync(values, cancellationToken);

        var others = store.Check(values.Where(value => !locked.ContainsKey(value.Key)).ToDictionary());
        return others.Concat(locked).ToDictionary();
    }

    private static async Task<string?> ReadTextAsync(Stream body, CancellationToken cancellationToken)
    {
        using var reader = new StreamReader(body, Encoding.UTF8);
        var text = new char[MaxImport];
        var length = await reader.ReadBlockAsync(text, cancellationToken);
        return length == MaxImport ? null : new string(text, 0, length);
    }

    private static SettingValues Values(SettingsSource settings, EffectiveValues effective) =>
        new([.. settings.Current.All.Select(setting => Value(setting, effective))], settings.Version);

    private static SettingValue Value(EffectiveSetting setting, EffectiveValues effective) => new(
        setting.Definition.Key,
        setting.Definition.Secret ? null : setting.Value,
        setting.Origin,
        setting.Variable,
        effective.Of(setting),
        setting.IsLocked || (setting.Definition.Secret ? setting.Value != setting.Definition.Default : setting.Value.Length > 0),
        setting.IsLocked);
}
