using System.Data;
using Dapper;

// Dapper's generator replaces every call at build, so that no row and no parameter is looked at by reflection while running.
[module: DapperAot]

namespace Sluice.Server.Database;

/// <summary>Bytes as one parameter of a statement: the generator takes a byte array for a list of values.</summary>
/// <param name="Value">The bytes; null for none.</param>
internal readonly record struct SqlBytes(byte[]? Value) : SqlMapper.ICustomQueryParameter
{
    /// <inheritdoc/>
    public void AddParameter(IDbCommand command, string name)
    {
        var parameter = command.CreateParameter();
        parameter.ParameterName = name;
        parameter.DbType = DbType.Binary;
        parameter.Value = Value ?? (object)DBNull.Value;
        command.Parameters.Add(parameter);
    }
}
