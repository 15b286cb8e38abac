namespace Sluice.Server.SabApi;

/// <summary>
/// Writes one answer as objects, lists and fields, whatever the form that the client asked for (SAB-4). A name is null for what stands in
/// a list, and only there.
/// </summary>
internal interface ISabWriter : IDisposable
{
    /// <summary>Begins an object.</summary>
    void BeginObject(string? name = null);

    /// <summary>Ends the innermost object.</summary>
    void EndObject();

    /// <summary>Begins a list.</summary>
    void BeginList(string name);

    /// <summary>Ends the innermost list.</summary>
    void EndList();

    /// <summary>A text, or null.</summary>
    void Field(string? name, string? value);

    /// <summary>A number.</summary>
    void Field(string? name, long value);

    /// <summary>A truth value.</summary>
    void Field(string? name, bool value);

    /// <summary>Ends the answer.</summary>
    void Complete();

    /// <summary>Hands on everything that was written.</summary>
    void Flush();
}
